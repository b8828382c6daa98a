"""Words that carry no subject, of the five languages that the service stems and searches.

A word that is empty in one language and full in another (German "war", "man") stays out of the
list: losing a subject is worse than keeping a filler.
"""

from svc_core.analysis._tables import words

FILLERS = {
    "en": words("""
a about above after again against all almost along already also although always am among an and
another any anyone anything are around as at away back be became because become been before behind
being below between both but by came can cannot cant come could couldnt did didnt do does doesnt
doing dont down during each either else even ever every everyone everything few for from further
get gets getting go goes going got had hadnt has hasnt have havent having he hed hell her here hers
herself hes him himself his how however i id if ill im in into is isnt it its itself ive just keep
least less let lets like made make makes making many may maybe me might more most much must my
myself near neither never next no nobody nor not nothing now of off often on once one only onto or
other others our ours ourselves out over own per perhaps put rather really said same say saying
says see seem seemed seems seen shall she shed shes should shouldnt since so some someone something
soon still such take taken takes than that thats the their theirs them themselves then there theres
these they theyd theyll theyre theyve this those though through thus to together told too took
toward towards two under unless until up upon us use used uses using very via was wasnt we well
went were werent weve what whats when where whether which while who whom whose why will with within
without wont would wouldnt yes yet you youll your youre yours yourself youve mr mrs ms
"""),
    "fr": words("""
alors apres au aucun aussi autre autres aux avant avec avoir car ce ceci cela celle celles celui
ces cet cette ceux chaque chez comme comment dans de depuis des deux doit donc dont du elle elles
en encore entre est et etaient etait etant ete etre eux faire fait faut font hors ici il ils je
jusque la laquelle le lequel les lesquels leur leurs lors lorsque lui ma mais meme memes mes moi
moins mon ne ni nos notre nous on ont ou par parce parmi pas pendant peu peut peuvent plus
plusieurs pour pourquoi puis quand que quel quelle quelles quels qui quoi sa sans se selon sera
seront ses si sinon soit sont sous sur ta tandis tant te tel telle tes toi ton tous tout toute
toutes tres trop tu un une vers voici voila vos votre vous vu
"""),
    "de": words("""
aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bereits
bin bis bist da dabei dadurch dafur dagegen daher damit danach dann daran darauf daraus darin darum
daruber das dass dazu dein dem den denen denn der deren des deshalb dessen dich die dies diese
diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einige er es
etwa etwas euch fur gegen geht gewesen gibt haben habe hatte hatten hier hin hinter ich ihm ihn
ihnen ihr ihre ihrem ihren ihrer im immer ins ist ja jede jedem jeden jeder jedes jedoch jetzt kann
kein keine keinen keiner konnen konnte konnten mal mehr mein mich mir mit muss mussen nach nachdem
nicht nichts noch nun nur ob oder ohne schon sehr sei sein seine seinem seinen seiner seit selbst
sich sie sind so sogar soll sollen sollte sondern sonst sowie um und uns unser unter viel viele vom
von vor wahrend waren warum was weil weiter welche welcher wenn wer werde werden wie wieder will
wir wird wo wollen wurde wurden zu zum zur zwar zwei zwischen
"""),
    "es": words("""
ademas al algo alguna algunas alguno algunos ante antes aquel aquella asi aun aunque bajo bien cada
casi como con contra cual cuales cuando cuanto cuatro de del desde donde dos durante e el ella
ellas ello ellos en entonces entre era eran es esa esas ese eso esos esta estaba estado estan estar
estas este esto estos fue fueron ha habia hace hacia han hasta hay la las le les lo los mas me mi
mientras mis mucho muchos muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros
para pero poco por porque pues que quien quienes se sea segun ser si sido siempre sin sino sobre
solo son su sus tambien tan tanto te tiene tienen toda todas todavia todo todos tras tu tus un una
unas uno unos usted ya yo
"""),
    "pt": words("""
ao aos ate com da das dela dele do dos ela ele eles em esse essa foi foram isso isto ja mais mas
meu minha na nao nas nem no num numa pela pelas pelo pelos quando sao seu sua seus suas tem uma
umas
"""),
    "ru": words("""
а без более больше будет бы был была были было быть в вам вас весь во вот все всего всех вы где да
даже для до его ее если есть еще же за здесь и из или им их к как какой когда которая которые
который кто ли лишь между меня мне может мы на над надо нам нас не него нее нет ни них но о об один
она они оно от очень перед по под после потому почти при про раз с сам себя со так также такой там
те тем то того тоже только том тот три у уже хотя чего чем через что чтобы эта эти это этого этой
этом этот я
"""),
}
STOP_WORDS = frozenset[str]().union(*FILLERS.values())
