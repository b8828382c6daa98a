"""Words that tell what a name is: titles, legal forms, kinds of place, and well-known bodies."""

from svc_core.text.tables import words

TITLES = words("""
president presidente président präsident premier prime minister chancellor king queen prince
princess pope president-elect op-ed ex-president vice mr mrs ms dr prof professor sen senator rep
gov governor mayor judge justice general gen col colonel sgt sir lord lady secretary ambassador
envoy chairman ceo director coach ministre ministra ministro bundeskanzlerin kanzler kanzlerin emir
sheikh ayatollah rev
""")
ORGANISATION_WORDS = words("""
inc corp corporation ltd llc plc gmbh ag sa group holdings company co bank university college
institute ministry department agency council court commission committee union association authority
organization organisation party parliament senate congress assembly bureau office foundation fund
times post news journal radio television tv airlines airways motors motor electronics pharma energy
club fc united police army navy force forces guard government house federation league alliance
front society museum church hospital school conference studios network systems technologies labs
""")
PLACE_WORDS = words("""
airport river island islands sea ocean province street avenue city bay lake mount mountain strait
prefecture county state region district valley peninsula gulf desert canal border coast port
""")
ORGANISATIONS = words("""
apple google alphabet microsoft amazon facebook meta twitter samsung huawei intel nvidia amd ibm
tesla toyota nissan honda daimler mercedes volkswagen bmw ford boeing airbus sony nintendo netflix
uber airbnb linkedin instagram snapchat tiktok bytedance alibaba tencent baidu xiaomi foxconn tsmc
qualcomm cisco oracle sap siemens infineon vodafone nokia ericsson exxon shell bp rosneft gazprom
lukoil aramco nike walmart disney kremlin pentagon nato opec unicef unesco interpol europol
hezbollah hamas taliban isis eu un ecb imf who fed fbi cia nsa nasa esa wto occrp adb pfizer
moderna astrazeneca citigroup hsbc barclays goldman jpmorgan openai spacex fitbit razer hulu twitch
spotify paypal visa mastercard bundestag duma knesset
""")
CITIES = words("""
mosul aleppo azaz homs raqqa basra kirkuk istanbul izmir mumbai kolkata chennai karachi lahore
shanghai shenzhen wuhan guangzhou osaka kyoto fukushima hiroshima yokohama okinawa busan munich
hamburg frankfurt cologne düsseldorf stuttgart zurich geneva milan naples turin barcelona valencia
seville marseille lyon nice toulouse bordeaux lille nevers strasbourg manchester birmingham
liverpool glasgow edinburgh belfast new_york chicago houston dallas atlanta boston seattle denver
detroit philadelphia miami orlando florida california texas alaska hawaii nevada virginia toronto
montreal vancouver quebec sydney melbourne brisbane perth lagos johannesburg durban bouake abidjan
casablanca alexandria gaza tel_aviv haifa dubai mecca medina kharkiv odesa donetsk luhansk crimea
mariupol petersburg kazan chechnya siberia manhattan brooklyn hollywood antarctica arctic catalonia
bavaria scotland wales bashiqa rio são_paulo porto los_angeles san_francisco las_vegas washington
fort_lauderdale hong_kong mexico_city
""")
NOT_NAMES = words("""
monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
christmas easter year read more video photo photos exclusive interview analysis opinion update
breaking live watch today yesterday tomorrow god english internet web lundi mardi mercredi jeudi
vendredi samedi dimanche montag dienstag mittwoch donnerstag freitag samstag sonntag lunes martes
miércoles jueves viernes sábado domingo reuters afp efe ap dpa ep bln mln
""")

OF_WORDS = words("""
bank ministry university gulf house department institute court chamber council church statue isle
cape tournament bay state sea strait republic kingdom school museum board party
""")
