"""How good or bad a word sounds in the news: our own list, strengths 1 (mild) to 3 (strong)."""

from svc_core.text.tables import words

POSITIVE = {
    3: """
triumph triumphant breakthrough heroic hero miracle outstanding superb excellent brilliant rescue
rescued jubilant celebrate celebration thrive flourish cure cured liberated landslide victory
masterpiece wonderful magnificent spectacular fantastic amazing extraordinary love loved beloved
""",
    2: """
win wins won winner winning success successful succeed achieve achievement award awarded prize peace
peaceful improve improved improvement gain gains recover recovery recovered growth grow boost
boosted surge soar soared rally record-breaking best better beat praise praised hail hailed welcome
welcomed support agree agreed agreement deal accord breakthroughs freed release released reunite
reunited save saved safe safety protect protected benefit beneficial profit profitable prosper
prosperity progress hope hopeful optimism optimistic upbeat strong stronger robust healthy happy
happiness joy joyful delight delighted proud honor honored honour honoured champion triumphs smart
innovative innovation inspire inspiring inspired generous donate donated donation charity friendly
smile fun funny enjoy enjoyed beautiful great good glad grateful thank thanks reward rewarding
upgrade upgraded outperform acquitted cleared exonerated
""",
    1: """
rise rises rising rose increase increased up launch launched open opening opened approve approved
approval help helped helpful aid assist relief ease eased easing resolve resolved solve solved
stable stability calm steady secure secured fair favor favour favorable favourable popular advance
advanced lead leads leading expand expanded expansion promising promise pledge pledged hire hired
invest investment partnership cooperation cooperate join joined efficient effective affordable
sustainable clean green modern modernize restore restored reform reforms ready easy confident
confidence comfortable fresh rich talented gifted clever
""",
}

NEGATIVE = {
    3: """
kill kills killed killing killer dead deadly death deaths die dies died dying murder murdered
murderer massacre slaughter genocide atrocity bomb bombing bombed bombs blast explosion terror
terrorism terrorist terrorists rape raped torture tortured war catastrophe catastrophic disaster
disastrous devastate devastated devastating devastation collapse collapsed tragedy tragic horror
horrific horrifying brutal assassinate assassinated assassination suicide famine starvation epidemic
pandemic fatal fatally victim victims corpse slain behead execution hostage kidnapped kidnapping
abuse abused abusive trafficking ransomware cancer
""",
    2: """
attack attacks attacked attacker assault assaulted shoot shooting shot gunman gunfire stab stabbed
stabbing wound wounded injure injured injury injuries hurt harm harmed harmful crash crashed crisis
crises conflict clash clashes violence violent fight fighting riot riots unrest revolt arrest
arrested jail jailed prison sentenced convicted guilty crime criminal corrupt corruption bribery
bribe graft fraud scam scandal embezzled laundering lawsuit sue sued charged accuse accused
accusation allegation alleged threat threaten threatened threatens danger dangerous fear fears
feared afraid panic chaos chaotic flee fled refugee sanction sanctions ban banned block blocked
suspend suspended fire fired layoff layoffs bankrupt bankruptcy default debt loss losses lose lost
losing loser fail failed failure fails worst worse bad poor poverty plunge plunged plummet slump
slumped tumble tumbled recession downturn shock shocked anger angry fury furious outrage outraged
hate hatred racist racism insult mock condemn condemned blame blamed critic criticism criticize
criticized slam slammed reject rejected deny denied denies illegal unlawful hack hacked hacker
hackers breach breached leak leaked steal stolen theft robbery rob robbed damage damaged destroy
destroyed destruction disease sick illness ill infected infection outbreak toxic pollution polluted
contaminated drought flood floods flooding earthquake quake hurricane storm wildfire famine wreck
missing trapped stranded grief mourn mourning cry cruel hostile hostility enemy enemies coup
oppression persecuted censorship detained detention deport deported expel expelled expulsion
revisionism propaganda intimidating intimidate blackmail punish punished punishment beating beaten
nightmare horrible terrible awful ugly disgusting sexually explicit counterfeit victimize
""",
    1: """
fall falls fell falling drop dropped drops decline declined decrease decreased down low lower cut
cuts weak weaker weakness slow slower slowdown delay delayed risk risks risky concern concerned
concerns worry worried worries worrying warn warned warning warns doubt doubts uncertain uncertainty
problem problems trouble troubled difficult difficulty hard tough struggle struggles struggling
struggled dispute disputed disagree tension tensions protest protests protesters oppose opposed
opposition resist resign resigned quit scrap scrapped cancel cancelled canceled withdraw withdrew
shut shutdown closure close closed shortage scarce costly expensive burden strain pressure stress
damaging flaw flawed bug error mistake wrong broken confuse confused controversial controversy
suspicious suspect suspected probe investigation raid raided dump tear sad unhappy disappoint
disappointed disappointing bleak grim volatile volatility instability unstable limit limited fading
divided tantrum taunt collision peril perils shortfall deficit strike
""",
}

NEGATIONS = words("""
no not never none neither nor without cannot cant wont dont doesnt didnt isnt arent wasnt werent
hasnt havent hadnt couldnt shouldnt wouldnt aint lacks lack hardly barely fails failed denies
denied prevent prevents prevented avoid avoids avoided
""")
STRONGER = words("""
very extremely highly deeply massive massively huge hugely major severe severely sharply record
worst-ever unprecedented utterly totally completely wholly worst most
""")
WEAKER = words("""
slightly somewhat little minor mildly partly partially modest modestly fairly almost nearly small
less potential possible possibly
""")
