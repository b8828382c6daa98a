"""Subjects as data: words of several languages that mean one thing in the news.

One line each: `concept|words`. An underscore joins the words of a phrase. A word may stand in more
than one line; a line holds only words that a reader would accept for each other.
"""

SUBJECTS = """
election|election elections electoral vote voters ballot poll_station primary_election runoff
    by_election referendum candidates polls scrutin élection électoral présidentielle législatives
    wahl wahlen bundestagswahl wahlkampf elección elecciones electoral comicios eleição eleições
    выборы
war|war warfare conflict fighting guerre krieg guerra война offensive frontline
military|military army troops soldiers forces armée militaire militär armee soldaten -bundeswehr
    ejército militar exército армия военный
attack|attack attacks assault attentat attaque angriff anschlag ataque atentado нападение атака
terrorism|terrorism terrorist terror jihadist extremist terrorisme terroriste terroristisch
    terrorismus terrorismo terrorista терроризм -islamic_state -isis -daesh -al_qaeda
earthquake|earthquake quake seismic aftershock tremor séisme tremblement_terre erdbeben terremoto
    sismo землетрясение tsunami
flood|flood floods flooding inondation inondations crue hochwasser überschwemmung inundación
    inundaciones riada наводнение
storm|storm hurricane typhoon cyclone tornado tempête ouragan sturm orkan tormenta huracán
    tempestade шторм ураган
wildfire|wildfire wildfires bushfire forest_fire incendie waldbrand incendio incêndio incêndios
    пожар
drought|drought sécheresse dürre sequía засуха
disaster|disaster disasters natural_disaster natural_disasters catastrophe katastrophe
    naturkatastrophe catástrofe desastre катастрофа
weather|weather météo wetter tiempo_meteorológico погода
security|security_threats
defense|defense defence verteidigung défense defensa
volcano|volcano eruption volcanic volcan vulkan volcán извержение вулкан
coldwave|cold_wave cold_snap winter_storm snow blizzard kältewelle kälte neige verglas froid nieve
    ola_frío мороз
heatwave|heatwave heat_wave canicule hitzewelle ola_calor
cyberattack|cyberattack cyber_attack cyberattacks hack hacked hacker hackers hacking cyberespionage
    cyber_angriff cyberangriff hackerangriff cyberattaque piratage ciberataque ciberataques хакер
    хакеры кибератака malware phishing ddos
ransomware|ransomware rançongiciel erpressungstrojaner
databreach|data_breach breach leaked_data data_leak data_theft fuite_données datenleck datenpanne
    filtración_datos
cybersecurity|cybersecurity cyber_security infosec cybersécurité it_sicherheit ciberseguridad
    кибербезопасность
vulnerability|vulnerability vulnerabilities zero_day security_flaw exploit faille sicherheitslücke
    schwachstelle vulnerabilidad уязвимость
hospital|hospital hospitals clinic hôpital hôpitaux klinik krankenhaus clínica больница
health|health healthcare health_service medical santé gesundheit salud sanidad saúde здоровье
healthcare|health_care healthcare -obamacare -affordable_care_act
vaccine|vaccine vaccination vaccines vaccin impfung impfstoff vacuna vacina вакцина
outbreak|outbreak epidemic pandemic épidémie pandémie epidemie pandemie epidemia pandemia -covid
    -coronavirus -ebola -measles -cholera эпидемия
birdflu|bird_flu avian_flu avian_influenza grippe_aviaire vogelgrippe gripe_aviar -h5n1 -h5n8
corruption|corruption corrupt graft bribery bribe bribes anti_corruption anti_graft embezzlement
    embezzled kickbacks kleptocracy pots_vin korruption bestechung corrupción soborno corrupção
    коррупция взятка
fraud|fraud scam swindle fraude escroquerie betrug estafa мошенничество
laundering|money_laundering laundering blanchiment geldwäsche blanqueo lavado_dinero отмывание
investigation|investigation investigate investigator probe inquiry enquête ermittlung ermittlungen
    untersuchung investigación pesquisa inquérito crackdown расследование
arrest|arrest arrested detained detention custody arrestation arrêté festnahme festgenommen
    detenido detenidos arresto detido арест задержан
court|court trial judge tribunal lawsuit verdict sentenced conviction procès gericht urteil prozess
    juicio sentencia juez суд
crime|crime criminal crimes kriminalität verbrechen crimen criminalité преступление -mafia
    organized_crime
drugs|-cocaine -heroin drug_trafficking drug_lord narco narcotics drug_bust -ecstasy drug drugs
    narcoterror narcos kingpin trafic_drogue drogenhandel narcotráfico
murder|murder homicide killing murdered assassination meurtre assassinat mord asesinato homicidio
    homicídio убийство
shooting|shooting gunman gunfire shot_dead fusillade schießerei tiroteo стрельба
protest|protest protests demonstration demonstrators rally riot unrest manifestation manifestants
    proteste demonstration protesta manifestación manifestação протест
interference|interference -influence meddling meddle influence_campaign intervention ingérence
    einmischung injerencia interferencia interferência вмешательство
mutiny|mutiny mutineers army_revolt revolt uprising rebellion coup mutinerie meuterei motín мятеж
    soldiers_revolt
strike|labour_strike labor_strike walkout union_strike grève streik huelga greve забастовка
sanctions|sanctions sanction sanctioned embargo sanktion sanktionen sanción sanciones sanções
    санкции
trade|trade tariff tariffs trade_deal trade_war commerce_international handel zölle arancel
    aranceles comercio тариф exports imports protectionist
economy|economy economic gdp growth économie économique wirtschaft konjunktur economía económico
    economia экономика recession
inflation|inflation consumer_prices inflación inflação инфляция
interestrate|interest_rate interest_rates rate_hike rate_cut rate_rise key_rate rate_decision
    taux_intérêt taux_directeur leitzins zinsen zinssatz tipos_interés tasas_interés
    ключевая_ставка raise_rates cut_rates raises_rates cuts_rates
ecb|ecb european_central_bank bce ezb banque_centrale_européenne europäische_zentralbank
    banco_central_europeo европейский_центральный_банк
fed|federal_reserve the_fed fomc réserve_fédérale us_notenbank reserva_federal фрс
boe|bank_of_england boe
centralbank|central_bank central_banks banque_centrale zentralbank notenbank banco_central
    центробанк monetary_policy -rbi
jobs|jobs unemployment jobless employment payrolls chômage emploi arbeitslosigkeit arbeitslose
    empleo desempleo paro безработица
layoffs|layoffs layoff job_cuts laid_off licenciements suppressions_postes stellenabbau
    entlassungen despidos
wages|wages wage salary pay_rise salaries salaire lohn löhne gehalt salario зарплата
tax|tax taxes taxation impôt impôts fiscalité steuer steuern impuesto impuestos imposto -irs налог
budget|budget deficit haushalt presupuesto orçamento бюджет
stocks|stocks stock_market shares equities bourse actions_bourse aktie aktien börse bolsa acciones
    акции биржа
bank|bank banks banking lender banque bancaire banken banco bancos банк
acquisition|acquisition acquire acquires takeover merger buyout übernahme übernimmt fusion rachat
    adquisición compra_empresa поглощение
crypto|-bitcoin cryptocurrency crypto -ethereum blockchain kryptowährung criptomoneda криптовалюта
energy|energy énergie energie energía energia энергетика power_plant electricity strom électricité
nuclear|nuclear nucléaire nuclear_weapon nuclear_weapons ядерный атомный atomwaffen
nuclearpower|atomkraft atomkraftwerk atomreaktor kernkraft kernenergie kernkraftwerk nuclear_power
    nuclear_power_plant nuclear_power_plants nuclear_plant nuclear_reactor centrale_nucléaire
    central_nuclear аэс
oil|oil crude petroleum -opec pétrole erdöl öl petróleo нефть
gas|natural_gas lng gaz erdgas gas_natural газ
climate|climate climate_change global_warming changement_climatique réchauffement climatique
    klimawandel klimaschutz cambio_climático climático alterações_climáticas климат
    carbon_emissions greenhouse_gas
migration|migration migrant migrants immigration immigrant refugee refugees asylum asylum_seekers
    deportation réfugié réfugiés flüchtling flüchtlinge abschiebung einwanderung asyl refugiado
    refugiados inmigración inmigrante migrante беженцы мигранты
border|border frontier border_wall frontière grenze frontera fronteira граница
parliament|parliament parliamentary congress senate lawmakers parlement sénat -bundestag parlamento
    senado congreso парламент дума
president|president presidency presidential président präsident presidente президент
diplomacy|diplomacy diplomat diplomatic ambassador envoy envoys diplomatie botschafter embajador
    diplomático дипломат посол summit
ceasefire|ceasefire cease_fire truce cessez_feu waffenruhe waffenstillstand alto_fuego tregua
    перемирие
peace|peace peace_talks paix frieden paz мир_переговоры
nato|nato otan нато
eu|european_union eu ue union_européenne europäische_union unión_europea união_europeia евросоюз ес
un|united_nations unorg onu uno nations_unies vereinte_nationen naciones_unidas оон
who|world_health_organization whoorg oms organisation_mondiale_santé weltgesundheitsorganisation
imf|imf international_monetary_fund fmi iwf мвф
opec|opec opep опек
fbi|fbi фбр
cia|cia цру
intelligence|intelligence_agencies intelligence_report spy spies espionage renseignement
    geheimdienst espionaje inteligencia разведка
ai|artificial_intelligence machine_learning chatbot -openai -chatgpt intelligence_artificielle
    künstliche_intelligenz inteligencia_artificial искусственный_интеллект AI generative_ai
chips|semiconductor semiconductors chip chips chipmaker semi_conducteur halbleiter chiphersteller
    semiconductores полупроводник foundry wafer
smartphone|smartphone smartphones -iphone -android_phone téléphone_portable handy móvil teléfono
    смартфон
socialmedia|social_media -facebook -twitter -instagram -tiktok -snapchat réseaux_sociaux
    soziale_medien redes_sociales соцсети
privacy|privacy data_protection -gdpr vie_privée datenschutz privacidad
space|space_mission spacecraft satellite rocket -nasa -spacex astronaut espace_fusée rakete
    trägerrakete raketenstart raumfahrt cohete космос ракета
electriccar|electric_car electric_cars electric_vehicle electric_vehicles ev evs voiture_électrique
    elektroauto elektroautos coche_eléctrico carro_elétrico электромобиль
car|car cars automaker automakers carmaker automobile voiture automobil auto autos autobauer coche
    automóvil автомобиль
accident|accident accidents crash collision acidente unfall accidente авария
bus|bus buses autocarro autobús autocar
aviation|airline airlines airport aviation flight aéroport compagnie_aérienne flughafen
    fluggesellschaft aerolínea aeropuerto авиакомпания аэропорт
rail|rail railway train trains bahn zug chemin_fer -sncf ferrocarril tren железная_дорога
shipping|shipping vessel tanker cargo_ship maritime port_authority navire schifffahrt buque naviera
    судно
football|football soccer -premier_league -champions_league -real_madrid fútbol futebol fußball
    футбол
tennis|tennis -wimbledon -atp -wta -grand_slam tenis tênis теннис
film|film films movie movies cinema cinéma kino cine película кино
music|music album singer concert musique musik música музыка
videogame|video_game video_games videogames jeu_vidéo jeux_vidéo videospiel pc_spiele videojuego
art|museum exhibition gallery musée exposition ausstellung museo exposición выставка
education|education school schools university éducation école schule bildung educación escuela
    universidad образование школа
farming|agriculture farming farmers agricultural agriculteurs éleveurs landwirtschaft bauern
    agricultura agricultores сельское_хозяйство
food|food_prices food_security aliments lebensmittel alimentos
housing|housing mortgage property_prices real_estate logement wohnung wohnungsbau vivienda
    habitação недвижимость
gender|gender women_rights feminism feminist femmes_droits frauenrechte feminismus
domesticviolence|domestic_violence domestic_abuse violence_conjugale häusliche_gewalt
    violencia_doméstica violencia_género
censorship|censorship press_freedom censura censure zensur pressefreiheit
religion|church religion religious pope vatican église kirche iglesia igreja церковь
animal|endangered_species wildlife conservation rhino rhinos
hate|hate_crime hate_crimes crime_haine hassverbrechen
olympics|olympics olympic olympic_games jeux_olympiques olympia olimpiadas олимпиада
trafficking|human_trafficking anti_trafficking trafficking_victims traite_humains menschenhandel
    trata_personas
disinformation|disinformation misinformation fake_news propaganda désinformation desinformation
    desinformación дезинформация
"""

NARROWER = """
investigation|arrest court
attack|terrorism shooting
cyberattack|ransomware databreach
cybersecurity|cyberattack ransomware databreach vulnerability
security|cyberattack terrorism
disaster|earthquake flood storm wildfire volcano drought coldwave heatwave
weather|coldwave heatwave storm flood
war|ceasefire
protest|mutiny
interference|cyberattack
crime|murder drugs fraud laundering shooting trafficking
corruption|laundering
health|hospital healthcare outbreak
jobs|layoffs wages
economy|jobs inflation
socialmedia|disinformation
mutiny|military
nuclear|nuclearpower
car|electriccar
defense|military
oil|-opec
"""
