"""Countries as data: code, English name, capital, region, and the words that mean the country.

One line each: `code|name|capital|region|words`. Words are given in the languages of the news
(names, adjectives, inhabitants); an underscore joins the words of a phrase; a leading hyphen marks
a name that tells the country in an item but asks for itself in a question ("Putin"). Regions: eu
Europe, as Asia, me Middle East, af Africa, na North America, la Latin America, oc Oceania.
"""

COUNTRIES = """
AF|Afghanistan|Kabul|as|afghan afghani afganistan afganistán афганистан -taliban -talibans
    -talibanes
AL|Albania|Tirana|eu|albanian albanie albanien албания
DZ|Algeria|Algiers|af|algerian algérie algérien algerien algérienne argelia algerije алжир
AD|Andorra|Andorra la Vella|eu|andorran andorre
AO|Angola|Luanda|af|angolan angolais ангола
AR|Argentina|Buenos Aires|la|argentine argentinian argentinien argentino argentin аргентина
AM|Armenia|Yerevan|as|armenian arménie armenien armenio armênia армения армянский
AU|Australia|Canberra|oc|australian australie australien australiano австралия
AT|Austria|Vienna|eu|austrian autriche österreich österreichisch autrichien austriaco австрия
AZ|Azerbaijan|Baku|as|azerbaijani azerbaïdjan aserbaidschan azerbaiyán азербайджан
BH|Bahrain|Manama|me|bahraini bahreïn baréin
BD|Bangladesh|Dhaka|as|bangladeshi бангладеш
BY|Belarus|Minsk|eu|belarusian belarussian biélorussie bélarus weißrussland belarús bielorrusia
    белоруссия беларусь
BE|Belgium|Brussels|eu|belgian belgique belgien belge bélgica belga belgisch бельгия
BZ|Belize|Belmopan|la|belizean
BJ|Benin|Porto-Novo|af|beninese bénin
BT|Bhutan|Thimphu|as|bhutanese bhoutan
BO|Bolivia|Sucre|la|bolivian bolivie bolivien boliviano боливия
BA|Bosnia and Herzegovina|Sarajevo|eu|bosnia bosnian bosnie bosnien босния
BW|Botswana|Gaborone|af|
BR|Brazil|Brasília|la|brazilian brésil brésilien brasilien brasil brasileño brasileiro бразилия
    -bolsonaro -lula
BN|Brunei|Bandar Seri Begawan|as|bruneian
BG|Bulgaria|Sofia|eu|bulgarian bulgarie bulgarien búlgaro болгария
BF|Burkina Faso|Ouagadougou|af|burkina_faso burkinabe burkinabè
BI|Burundi|Bujumbura|af|burundian
KH|Cambodia|Phnom Penh|as|cambodian cambodge kambodscha camboya камбоджа
CM|Cameroon|Yaoundé|af|cameroonian cameroun kamerun camerún
CA|Canada|Ottawa|na|canadian canadien kanada kanadisch canadá canadiense канада
CV|Cape Verde|Praia|af|cape_verde cabo_verde
CF|Central African Republic|Bangui|af|central_african_republic centrafrique centrafricain
TD|Chad|N'Djamena|af|chadian tchad tschad
CL|Chile|Santiago|la|chilean chili chilien chileno чили
CN|China|Beijing|as|chinese chine chinois chinoise chinesisch chinesischen chinos chino chinês
    китай китайский beijing pékin pekín peking 中国 中國 -xi_jinping
CO|Colombia|Bogotá|la|colombian colombie kolumbien colombiano colômbia колумбия
KM|Comoros|Moroni|af|comores
CG|Congo|Brazzaville|af|brazzaville
CD|DR Congo|Kinshasa|af|drc rdc congo congolese kongo congolais конго
CR|Costa Rica|San José|la|costa_rica costa_rican
CI|Ivory Coast|Yamoussoukro|af|ivory_coast côte_ivoire cote_divoire ivorian ivoirien elfenbeinküste
    costa_marfil -abidjan
HR|Croatia|Zagreb|eu|croatian croatie kroatien croacia хорватия
CU|Cuba|Havana|la|cuban cubain kuba cubano куба
CY|Cyprus|Nicosia|eu|cypriot chypre zypern chipre кипр
CZ|Czechia|Prague|eu|czech tchèque tschechien chequia checo чехия
DK|Denmark|Copenhagen|eu|danish danemark dänemark dänisch danois dinamarca danés дания
DJ|Djibouti|Djibouti|af|
DO|Dominican Republic|Santo Domingo|la|dominican_republic república_dominicana
EC|Ecuador|Quito|la|ecuadorian ecuadorean équateur ecuatoriano эквадор
EG|Egypt|Cairo|me|egyptian égypte égyptien ägypten egipto egipcio египет
SV|El Salvador|San Salvador|la|salvadoran el_salvador
GQ|Equatorial Guinea|Malabo|af|equatorial_guinea
ER|Eritrea|Asmara|af|eritrean érythrée
EE|Estonia|Tallinn|eu|estonian estonie estland эстония
SZ|Eswatini|Mbabane|af|swaziland
ET|Ethiopia|Addis Ababa|af|ethiopian éthiopie äthiopien etiopía эфиопия
FJ|Fiji|Suva|oc|fijian
FI|Finland|Helsinki|eu|finnish finlande finnland finnois finlandia финляндия
FR|France|Paris|eu|french frankreich français française françaises französisch französische
    französischen francia francés francesa frança франция французский -macron -hollande
    -marine_le_pen
GA|Gabon|Libreville|af|gabonese gabonais
GM|Gambia|Banjul|af|gambian gambie
GE|Georgia|Tbilisi|as|géorgie georgien грузия georgian tbilisi
DE|Germany|Berlin|eu|german germans allemagne allemand allemande deutschland deutsch deutsche
    deutschen alemania alemán alemana alemanha alemão германия немецкий -merkel -scholz -bundestag
GH|Ghana|Accra|af|ghanaian ghanéen
GR|Greece|Athens|eu|greek grèce griechenland griechisch grec grecia griego греция
GT|Guatemala|Guatemala City|la|guatemalan
GN|Guinea|Conakry|af|guinée guinean conakry
GW|Guinea-Bissau|Bissau|af|guinea_bissau
GY|Guyana|Georgetown|la|guyanese
HT|Haiti|Port-au-Prince|la|haitian haïti haitien haití гаити
HN|Honduras|Tegucigalpa|la|honduran
HK|Hong Kong|Hong Kong|as|hong_kong hongkong гонконг
HU|Hungary|Budapest|eu|hungarian hongrie ungarn ungarisch hongrois hungría венгрия
IS|Iceland|Reykjavík|eu|icelandic islande island_isländisch islandia исландия
IN|India|New Delhi|as|indian inde indien indienne indio индия delhi -lok_sabha -modi
ID|Indonesia|Jakarta|as|indonesian indonésie indonesien indonésien индонезия
IR|Iran|Tehran|me|iranian iranien iranisch irán iraní irão иран tehran téhéran teherán
IQ|Iraq|Baghdad|me|iraqi irak irakien irakisch iraquí irakí ирак -mosul -mossoul
IE|Ireland|Dublin|eu|irish irlande irland irisch irlandais irlanda ирландия
IL|Israel|Jerusalem|me|israeli israël israélien israelisch israelí israelita израиль израильский
    -netanyahu
IT|Italy|Rome|eu|italian italie italien italienne italienisch italia italiano италия итальянский
JM|Jamaica|Kingston|la|jamaican
JP|Japan|Tokyo|as|japanese japon japonais japonaise japanisch japanische japón japonés japonesa
    japão япония японский 日本 -shinzo_abe
JO|Jordan|Amman|me|jordanian jordanie jordanien jordania иордания
KZ|Kazakhstan|Astana|as|kazakh kazakhstani kasachstan kazajistán казахстан
KE|Kenya|Nairobi|af|kenyan kényan kenia кения
KI|Kiribati|Tarawa|oc|
KP|North Korea|Pyongyang|as|north_korea north_korean dprk corée_nord nordkorea nordkoreanisch
    corea_norte coreia_norte кндр pyongyang -kim_jong
KR|South Korea|Seoul|as|south_korea south_korean corée_sud südkorea südkoreanisch corea_sur
    coreia_sul seoul séoul 韓国 韩国
XK|Kosovo|Pristina|eu|kosovar kosovan косово
KW|Kuwait|Kuwait City|me|kuwaiti koweït кувейт
KG|Kyrgyzstan|Bishkek|as|kyrgyz kirghizistan kirgisistan kirguistán киргизия
LA|Laos|Vientiane|as|laotian
LV|Latvia|Riga|eu|latvian lettonie lettland letonia латвия
LB|Lebanon|Beirut|me|lebanese liban libanon libanais líbano libanés ливан -hezbollah
LS|Lesotho|Maseru|af|
LR|Liberia|Monrovia|af|liberian
LY|Libya|Tripoli|me|libyan libye libyen libysch libia libio ливия
LI|Liechtenstein|Vaduz|eu|
LT|Lithuania|Vilnius|eu|lithuanian lituanie litauen lituania литва
LU|Luxembourg|Luxembourg|eu|luxemburg luxemburgo
MG|Madagascar|Antananarivo|af|malagasy madagaskar
MW|Malawi|Lilongwe|af|malawian
MY|Malaysia|Kuala Lumpur|as|malaysian malaisie malasia малайзия
MV|Maldives|Malé|as|maldivian malediven maldivas
ML|Mali|Bamako|af|malian malien
MT|Malta|Valletta|eu|maltese malte мальта
MH|Marshall Islands|Majuro|oc|marshall_islands
MR|Mauritania|Nouakchott|af|mauritanian mauritanie
MU|Mauritius|Port Louis|af|mauritian
MX|Mexico|Mexico City|la|mexican mexique mexicain mexiko mexikanisch méxico mexicano мексика
FM|Micronesia|Palikir|oc|
MD|Moldova|Chișinău|eu|moldovan moldavie moldau moldavia молдавия молдова
MC|Monaco|Monaco|eu|monegasque
MN|Mongolia|Ulaanbaatar|as|mongolian mongolie mongolei монголия
ME|Montenegro|Podgorica|eu|montenegrin monténégro черногория
MA|Morocco|Rabat|af|moroccan maroc marocain marokko marruecos marroquí марокко
MZ|Mozambique|Maputo|af|mozambican mosambik
MM|Myanmar|Naypyidaw|as|burma burmese birmanie birmania мьянма -rohingya
NA|Namibia|Windhoek|af|namibian
NP|Nepal|Kathmandu|as|nepalese nepali népal непал
NL|Netherlands|Amsterdam|eu|dutch pays_bas niederlande niederländisch néerlandais países_bajos
    holanda holandés нидерланды голландия
NZ|New Zealand|Wellington|oc|new_zealand nouvelle_zélande neuseeland nueva_zelanda
NI|Nicaragua|Managua|la|nicaraguan
NE|Niger|Niamey|af|nigerien
NG|Nigeria|Abuja|af|nigerian nigérian нигерия -boko_haram
MK|North Macedonia|Skopje|eu|macedonia macedonian macédoine македония
NO|Norway|Oslo|eu|norwegian norvège norwegen norvégien noruega noruego норвегия
OM|Oman|Muscat|me|omani
PK|Pakistan|Islamabad|as|pakistani pakistanais pakistán пакистан
PW|Palau|Ngerulmud|oc|palauan
PS|Palestine|Ramallah|me|palestinian palestinien palästina palästinensisch palestina palestino
    palestiniano палестина -gaza -hamas west_bank cisjordanie
PA|Panama|Panama City|la|panamanian
PG|Papua New Guinea|Port Moresby|oc|papua_new_guinea
PY|Paraguay|Asunción|la|paraguayan
PE|Peru|Lima|la|peruvian pérou péruvien perú peruano перу
PH|Philippines|Manila|as|philippine filipino philippinen filipinas филиппины -duterte
PL|Poland|Warsaw|eu|polish pologne polen polnisch polonais polonia polaco польша польский
PT|Portugal|Lisbon|eu|portuguese portugais portugiesisch portugués português португалия
QA|Qatar|Doha|me|qatari katar катар
RO|Romania|Bucharest|eu|romanian roumanie rumänien rumania румыния
RU|Russia|Moscow|eu|russian russie russe russland russisch russische rusia ruso rusa rússia russo
    россия российский русский kremlin kreml кремль -putin -poutine -путин
RW|Rwanda|Kigali|af|rwandan rwandais ruanda
SA|Saudi Arabia|Riyadh|me|saudi saudi_arabia arabie_saoudite saoudien saudisch saudische saudischer
    arabia_saudí saudita саудовская riyadh
SN|Senegal|Dakar|af|senegalese sénégal
RS|Serbia|Belgrade|eu|serbian serbie serbien serbio сербия
SC|Seychelles|Victoria|af|
SL|Sierra Leone|Freetown|af|sierra_leone
SG|Singapore|Singapore|as|singaporean singapour singapur сингапур
SK|Slovakia|Bratislava|eu|slovak slovaquie slowakei eslovaquia словакия
SI|Slovenia|Ljubljana|eu|slovenian slovénie slowenien eslovenia словения
SB|Solomon Islands|Honiara|oc|solomon_islands
SO|Somalia|Mogadishu|af|somali somalie сомали -shabaab
ZA|South Africa|Pretoria|af|south_africa south_african afrique_sud südafrika sudáfrica юар
SS|South Sudan|Juba|af|south_sudan soudan_sud südsudan
ES|Spain|Madrid|eu|spanish espagne espagnol spanien spanisch españa español española espanha
    испания испанский catalonia catalan cataluña
LK|Sri Lanka|Colombo|as|sri_lanka sri_lankan шри
SD|Sudan|Khartoum|af|sudanese soudan судан -darfur
SR|Suriname|Paramaribo|la|
SE|Sweden|Stockholm|eu|swedish suède schweden schwedisch suédois suecia sueco швеция
CH|Switzerland|Bern|eu|swiss suisse schweiz schweizer suiza suizo suíça швейцария
SY|Syria|Damascus|me|syrian syrie syrien syrisch syrischen siria sirio síria сирия сирийский
    -aleppo -alep -assad
TW|Taiwan|Taipei|as|taiwanese taïwan taïwanais taiwanés тайвань 台湾 臺灣
TJ|Tajikistan|Dushanbe|as|tajik tadjikistan таджикистан
TZ|Tanzania|Dodoma|af|tanzanian tanzanie tansania
TH|Thailand|Bangkok|as|thai thaïlande tailandia таиланд
TG|Togo|Lomé|af|togolese
TO|Tonga|Nukuʻalofa|oc|tongan
TT|Trinidad and Tobago|Port of Spain|la|trinidad
TN|Tunisia|Tunis|af|tunisian tunisie tunisien tunesien túnez тунис
TR|Turkey|Ankara|me|turkish turquie turc turque türkei türkisch türkischen turquía turco turquia
    турция турецкий -erdogan türkiye
TM|Turkmenistan|Ashgabat|as|turkmen
TV|Tuvalu|Funafuti|oc|
UG|Uganda|Kampala|af|ugandan ouganda
UA|Ukraine|Kyiv|eu|ukrainian ukrainien ukrainisch ucrania ucraniano ucrânia украина украинский kyiv
    kiev -zelensky -zelenskyy -crimea -donbas
AE|United Arab Emirates|Abu Dhabi|me|uae emirati united_arab_emirates émirats emirate emiratos
    -dubai -abu_dhabi
GB|United Kingdom|London|eu|uk britain british briton gb great_britain united_kingdom royaume_uni
    grande_bretagne britannique großbritannien grossbritannien britisch britische britischen
    reino_unido británico britânico england english великобритания британский -theresa_may
    -boris_johnson -starmer
US|United States|Washington|na|usofa american united_states états_unis etats_unis américain
    américaine vereinigte_staaten amerikanisch amerikanische amerikanischen estados_unidos
    estadounidense norteamericano americano сша американский 米国 美国 -obama -trump -biden america
    americans
UY|Uruguay|Montevideo|la|uruguayan
UZ|Uzbekistan|Tashkent|as|uzbek ouzbékistan usbekistan узбекистан
VU|Vanuatu|Port Vila|oc|
VA|Vatican City|Vatican City|eu|vatican vatikan vaticano ватикан
VE|Venezuela|Caracas|la|venezuelan vénézuéla venezolano венесуэла -maduro
VN|Vietnam|Hanoi|as|vietnamese viet_nam viêt_nam вьетнам
EH|Western Sahara|Laayoune|af|western_sahara
YE|Yemen|Sanaa|me|yemeni yémen jemen йемен -houthi -huthi
AG|Antigua and Barbuda|Saint John's|la|antigua
BS|Bahamas|Nassau|la|bahamian
BB|Barbados|Bridgetown|la|barbadian
DM|Dominica|Roseau|la|
GD|Grenada|Saint George's|la|grenadian
KN|Saint Kitts and Nevis|Basseterre|la|
LC|Saint Lucia|Castries|la|
VC|Saint Vincent and the Grenadines|Kingstown|la|
WS|Samoa|Apia|oc|samoan
SM|San Marino|San Marino|eu|
ST|São Tomé and Príncipe|São Tomé|af|
NR|Nauru|Yaren|oc|
TL|Timor-Leste|Dili|as|east_timor timor
GL|Greenland|Nuuk|na|greenlandic groenland grönland groenlandia
PR|Puerto Rico|San Juan|na|puerto_rican
ZM|Zambia|Lusaka|af|zambian
ZW|Zimbabwe|Harare|af|zimbabwean simbabwe
"""

REGIONS = """
eu|Europe|european europe europa europäisch europäische européen européenne europeo европа
    европейский
as|Asia|asian asie asien asiatique asiatisch asiático азия
me|Middle East|middle_east proche_orient moyen_orient nahost nahen_osten oriente_medio
    oriente_próximo
af|Africa|african afrique africain afrika afrikanisch áfrica africano африка
na|North America|north_america
la|Latin America|latin_america south_america amérique_latine lateinamerika américa_latina
oc|Oceania|oceania pacific_islands
"""
