"""The forty topics as data (`reference` of the catalogue: Spec: News, feeds).

One line each: `id|name|group|media topic|description|keywords`. The media topic is the top level of
the IPTC Media Topics. Keywords are single words or phrases joined by underscores, in any language;
a leading plus marks a word that settles the topic by itself, wherever it stands.
"""

TOPIC_ROWS = """
world|World|politics||International affairs and news from abroad|international global world_leaders
    foreign_policy overseas monde welt mundo internacional foreign
politics|Politics|politics|11|Parties, governments and parliaments|president prime_minister
    minister government parliament congress senate lawmakers party coalition cabinet politics
    political premier chancellor gouvernement regierung gobierno partido politik politique política
    président правительство president_elect white_house
diplomacy|Diplomacy|politics|11|Relations between states, talks and treaties|+diplomacy diplomat
    ambassador envoy envoys treaty summit bilateral peace_talks foreign_minister embassy consul
    diplomatie botschafter embajador diplomático state_visit pact foreign_policy
elections|Elections|politics|11|Campaigns, votes and results|+election +elections ballot voters
    vote runoff referendum polling_station +by_election candidate campaign presidential_race
    électoral présidentielle candidat campagne sympathisants militants +wahlkampf wahl +elecciones
    comicios eleições +выборы exit_poll
conflict|Conflict|security|16|War, fighting and ceasefires|war fighting ceasefire +ceasefire rebels
    offensive shelling airstrike airstrikes troops frontline combat militia insurgents siege battle
    guerre krieg guerra война warplanes invasion +islamic_state_stronghold gunfire mutiny
terrorism|Terrorism|security|16|Attacks by extremists and the fight against them|+terrorism
    +terrorist terror jihadist bombing suicide_bomber car_bomb extremists hostage attentat anschlag
    atentado +isis +al_qaeda +boko_haram terrorisme terrorismo теракт
unrest|Unrest|security|16|Protests, riots and revolts|+protest +protests protesters demonstrators
    demonstration riot riots unrest revolt uprising mutiny curfew crackdown looting manifestation
    proteste protesta manifestación coup
sanctions|Sanctions|security|11|Sanctions, embargoes and export controls|+sanctions +sanctioned
    +embargo blacklist blacklisted asset_freeze export_controls +ofac sanktionen sanciones +санкции
defense|Defense|security|16|Armed forces, arms and alliances|military defense defence army navy
    air_force missile missiles warship aircraft_carrier fighter_jet +nato pentagon arms_deal
    weapons troops soldiers armée bundeswehr ejército defense_ministry military_base
intelligence|Intelligence|security||Spying and secret services|+spy +spies espionage +cia
    intelligence_agencies intelligence_report secret_service mossad +fsb +mi6 kompromat
    surveillance geheimdienst espionnage espionaje declassified +u.s._intelligence
cybersecurity|Cybersecurity|technology|13|Attacks on computers and their defence|+cybersecurity
    +cyberattack +cyberattacks cyber_attack hackers hacker hacked hacking malware phishing ddos
    data_breach botnet cyber cyberangriff ciberataque ciberataques +piratage security_flaw spyware
    hackerangriff cybercrime
vulnerabilities|Vulnerabilities|technology||Flaws in software and their repair|+vulnerability
    +vulnerabilities zero_day exploit patch security_update remote_code_execution +cve
    sicherheitslücke vulnérabilité vulnerabilidad security_flaw firmware_update
ransomware|Ransomware|technology|02|Extortion by encrypted or stolen data|+ransomware lockbit
    ransom_demand decryptor extortion_gang +rançongiciel erpressungstrojaner double_extortion
disinformation|Disinformation|security||False news, propaganda and influence
    campaigns|+disinformation +misinformation fake_news propaganda influence_campaign troll_farm
    deepfake hoax conspiracy_theory désinformation desinformación election_interference
economy|Economy|economy|04|Growth, jobs and public finance|economy economic gdp recession growth
    unemployment jobs_report budget deficit wages fiscal wirtschaft économie economía economia
    экономика stimulus payrolls average_worker's_pay
markets|Markets|economy|04|Shares, bonds and currencies|stocks shares stock_market bond_yields
    wall_street nasdaq dow_jones nikkei ftse dax investors rally equities börse bourse bolsa yen
    euro_dollar treasuries aktie aktien
central-banks|Central banks|economy|04|Monetary policy and those who make it|+central_bank
    +central_banks +federal_reserve +european_central_bank +ecb interest_rate interest_rates
    rate_hike rate_cut monetary_policy +bank_of_england +bank_of_japan +zentralbank leitzins
    +banque_centrale +banco_central +rbi
inflation|Inflation|economy||Prices and the cost of living|+inflation consumer_prices
    cost_of_living price_rises deflation cpi teuerung +inflación +inflação fuel_prices price_index
trade|Trade|economy|04|Commerce between countries|tariff tariffs trade_deal trade_war exports
    imports free_trade protectionist wto customs trade_talks +nafta single_market export zölle
    arancel aranceles free_trade_agreement border_tax trade_agreement
companies|Companies|business|04|Firms, deals and those who run them|company companies ceo merger
    acquisition takeover buyout shareholder startup corporation corp ipo layoffs joint_venture
    unternehmen entreprise empresa übernahme firm chief_executive plant factory chairman
earnings|Earnings|business|04|Company results and forecasts|+earnings quarterly_profit
    quarterly_results revenue profit_warning net_income profit guidance quartal quartalszahlen
    rekordquartal résultats_trimestriels beneficios full_year_results
banking|Banking|business|04|Banks, lending and their supervision|+banking bank lender loan loans
    mortgage credit banks banque banken banco crédito kredit deposit stress_test financing
crypto|Crypto|business|04|Digital currencies and tokens|+bitcoin +cryptocurrency +crypto +ethereum
    +blockchain stablecoin +kryptowährung +criptomoneda token_sale crypto_exchange
commodities|Commodities|economy|04|Metals, grain and other raw goods|commodity commodities gold
    copper iron_ore wheat corn cocoa coffee aluminium steel alumina silver_price lithium rohstoff
    materias_primas crude
energy|Energy|economy|04|Oil, gas, power and renewables|energy oil crude gas_pipeline pipeline
    natural_gas lng opec power_plant nuclear_power solar wind_farm electricity refinery énergie
    energie energía atomkraft atomkraftwerk renewable oil_prices rosneft coal
supply-chain|Supply chain|business|04|Shortages, logistics and sourcing|+supply_chain
    +supply_chains shortage logistics supplier suppliers bottleneck lieferkette cadena_suministro
    lieferengpass stockpile
shipping|Shipping|business||Sea trade, ports and vessels|+shipping container_ship cargo_ship tanker
    vessel freighter port_authority suez strait maritime piracy seafarers schifffahrt naviera
technology|Technology|technology|13|Products, platforms and the industry behind them|technology
    tech software smartphone iphone android app gadget apple google microsoft samsung facebook
    amazon internet computer laptop ces electronics startup startups intel linux browser
    virtual_reality hdmi oled streaming
ai|Artificial intelligence|technology|13|Machine learning and its use|+artificial_intelligence
    +machine_learning +openai +chatgpt chatbot deep_learning neural_network +generative_ai
    language_model +AI ki_system intelligence_artificielle +künstliche_intelligenz
    inteligencia_artificial
semiconductors|Semiconductors|technology|13|Chips and how they are made|+semiconductor
    +semiconductors +chipmaker chip chips wafer foundry tsmc nvidia intel amd +halbleiter prozessor
    prozessoren flash_speicher chiphersteller nand infineon qualcomm
space|Space|science|13|Launches, satellites and exploration|+spacex +nasa +astronaut +astronauts
    spacecraft satellite rocket rocket_launch orbit mars moon_landing space_station trägerrakete
    raketenstart raumfahrt esa cosmonaut telescope
telecom|Telecom|technology|04|Networks and those who run them|+telecom telecoms 5g broadband
    mobile_network verizon vodafone huawei spectrum_auction at_t breitband mobilfunk opérateur
    netzbetreiber fiber_optic roaming
science|Science|science|13|Research and discovery|science scientists scientist researchers
    study_finds research discovery physics biology fossil university_study forscher forschung
    scientifique chercheurs científicos experiment genome archaeologists
health|Health|health|07|Medicine, care and the systems that pay for it|health hospital doctors
    patients medical disease cancer drug_trial surgery healthcare mental_health medicine vaccine
    gesundheit santé salud saúde obamacare diabetes nurse
outbreaks|Outbreaks|health|07|Epidemics and the spread of disease|+outbreak +epidemic +pandemic
    +ebola +cholera +measles +zika +bird_flu covid coronavirus quarantine virus_spread infections
    h5n1 h5n8 avian_flu épidémie vogelgrippe grippe_aviaire gripe_aviar mpox
climate|Climate|environment|06|Warming, its causes and its effects|+climate_change +global_warming
    climate emissions carbon_dioxide greenhouse_gas paris_agreement net_zero sea_level antarctic
    glacier +klimawandel climatique alterações_climáticas ice_shelf hottest_year
disasters|Disasters|environment|03|Earthquakes, storms, floods, fires and accidents|+earthquake
    +quake +tsunami hurricane typhoon cyclone tornado flood floods flooding wildfire wildfires
    landslide volcano eruption drought winter_storm avalanche erdbeben séisme terremoto inondations
    hochwasser incendios tempestade storm plane_crash train_crash death_toll evacuated cold_snap
    kältewelle verglas accident acidente
migration|Migration|society|14|Migrants, refugees and borders|+migrants +migrant +refugees +refugee
    +asylum immigration deportation deported border_wall border_crossing asylum_seekers flüchtlinge
    réfugiés refugiados migrantes abschiebung inmigración smuggling_people
crime|Crime|society|02|Crimes, policing and organised gangs|police murder arrested arrest suspect
    shooting gunman robbery fraud drug_trafficking cocaine money_laundering corruption bribery
    kidnapping gang rape assault homicide stabbing convicted sentenced detenido festgenommen
    meurtre mord graft embezzled mafia polizei policía torture crime
law-regulation|Law and regulation|society|02|Courts, laws and regulators|court judge lawsuit
    supreme_court ruling regulator antitrust legislation bill lawmakers_vote constitutional gericht
    urteil tribunal procès ley gesetz attorney_general fine privacy gdpr copyright conviction
    prosecutor prosecutors trial decree ordered
"""
