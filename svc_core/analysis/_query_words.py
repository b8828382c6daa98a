"""Words of a question that are not its subject, and given names that tell a person.

Instructions ask for something ("monitor the latest news about ..."). Generic words stand in any
news ("attack", "service"); they narrow a subject but never make one.
"""

from svc_core.text.tables import words

INSTRUCTIONS = words("""
monitor monitoring monitors track tracking tracks follow following watch watching report reports
reporting summarize summarise summary summaries analyze analyse analysis cover covering coverage
latest recent recently new news newest breaking update updates updated development developments
trend trends event events story stories headline headlines information info article articles please
interested interest want wants need needs like know knowing keep keeping eye alert alerts notify
give show tell find search look looking brief briefing briefings daily weekly monthly hourly today
yesterday week weeks month months year anything everything related relating concerning regarding
involving including include especially particularly particular focus focused focusing important
major key significant notable topic topics subject issue issues matter matters situation progress
overview digest insight insights impact impacts effect effects affecting happening happens current
currently ongoing emerging upcoming activity activities aspect aspects relevant mention mentions
mentioned discuss discussing stay abreast learn inform informed help provide collect gather
collecting scan detail details spring summer autumn winter weekend quarter
across around worldwide globally suivre suivi surveiller veille
actualite actualites nouvelles nouvelle dernieres derniere derniers informations evolution sujet
concernant relatif relatifs developpements verfolge verfolgen beobachte beobachten nachrichten
neuigkeiten aktuelle aktuellen neueste neuesten entwicklungen entwicklung meldungen berichte rund
thema seguir sigue seguimiento noticias ultimas ultimos novedades monitorear informacion actualidad
desarrollos acompanhar noticia новости последние следить события мониторинг отслеживать новость
свежие обзор
""")

CONJUNCTIONS = words("and or & et ou und oder y o e и или sowie plus")
JOINERS = words("of the de la le du des der den von van del do da für for at in et and")
RELATIONS = words(
    "between relations relationship tensions ties versus vs zwischen beziehungen relaciones"
)

PARTICLES = words("le la de del della di da do dos du van von der den ter bin ben al el")

EXCLUSIONS = (  # as an expression
    "but not|except for|other than|excluding|exclude|except|not about|without|ignoring|ignore|"
    "sauf|hors|außer|ohne|excepto|salvo|кроме"
)

GENERIC = words("""
attack service company market government policy system group security change crisis country people
world state national international global local public official plan deal talk issue problem
industry sector business firm product project program programme technology research study
development growth price cost rate sale number case law rule right force power leader member
minister department agency office report risk threat support effort action decision measure reform
agreement meeting visit campaign community center centre region area city capital home work job
worker life day time year high big large small top best good bad free open hot live old young early
late long short full real social political economic financial digital human general future history
data information internet media press private foreign domestic major minor main strategy operation
management team role regulation regulator authority institution organisation organization network
platform supply demand production investment investor fund budget value level quality standard
practice activity incident situation condition relation position statement announcement release
launch result politician executive expert citizen victim analyst thing way part use user customer
consumer game player season sport
""")

GIVEN_NAMES = words("""
aaron abdul adam ahmed alan albert alejandro alex alexander alexei alexey ali alice amy ana andrea
andreas andrei andrew angela ann anna anne anthony antonio arthur barack ben benjamin bernard
bernie bill bob boris brian bruno carlos carrie charles chris christian christine christopher
claire claude daniel david debbie dmitry donald dmitri ed edward elizabeth elon emma emmanuel eric
erik ernst esteban eva federico felipe fernando francis francois frank franz fred gabriel george
georges gerhard giorgio giovanni giuseppe gordon greg hans harry hassan helen henry hillary hugo
ibrahim igor ivan jack jacob jair james jamie jan jane janet jared javier jean jeff jennifer jeremy
jerome jessica jim jimmy joe johann john jon jonathan jorge jose joseph juan julia julian julie
justin kamala karen karl kate kei keir ken kevin kim klaus larry laura laurent lee leo leon linda
lionel lisa louis luca lucas luis luiz manuel marc marco margaret maria marie marine mario mark
markus martin mary matt matteo matthew max megan megyn melania michael michel michelle miguel mike
mohamed mohammad mohammed muhammad nana narendra natalia neil nelson nicola nicolas nicole nigel
nikolai novak olaf oleg oliver olga omar oscar pablo patrick paul pedro peter petr philip philippe
pierre piotr pyotr rafael ralph ray recep rex richard robert roberto roger ronald rosa roy rupert
ryan sam samantha samuel sandra sara sarah satya scott sean sebastian serena sergei sergey sergio
shinzo silvio simon sophie stefan stephen steve steven sundar susan taylor ted theresa thomas tim
toby tom tony ursula vincent victor viktor vladimir volodymyr walter wang werner william wolfgang
adriana alberto anthony antony friedrich giorgia imran ines isabel jens joao jose liz lloyd mette
rishi rodrigo salvador sanna santiago ulf volker xi yuri yuriko yves xavier zhang
""")
