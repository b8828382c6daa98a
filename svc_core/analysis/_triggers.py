"""What happened, as data: one line for each kind of event.

`type|direction|tag|strong words|weak words`. A strong word tells the event by itself, a weak one
only from the headline. Words are joined by underscores into phrases; several languages stand
together. Direction is the way the event usually points: up (better), down (worse), none.
"""

TRIGGERS = """
attack|down|security|terrorist_attack suicide_bomber suicide_bombing car_bomb bombing bombed gunman
    opened_fire airport_shooting mass_shooting truck_attack truck_attacker attentat anschlag
    atentado tiroteo fusillade airstrike missile_strike drone_strike ambush voiture_piégée теракт
    stabbing_attack|attack attacked attacks shooting gunfire explosion blast stabbing shelling
    killed assault angriff
cyberattack|down|cyber|cyberattack cyberattacks cyber_attack ciberataque ciberataques cyberangriff
    hackerangriff ransomware ddos malware data_breach phishing piratage zero_day кибератака
    cybercrime|hacked hacking hackers breach hack breached leaked
unrest|down|security|riot riots mutiny army_revolt coup looting state_emergency uprising
    violent_protests clashes_police tear_gas|protest protests protesters demonstrators unrest
    revolt demonstration manifestation proteste protesta clashes crackdown
strike|down|labour|walkout general_strike workers_strike union_strike strike_action huelga streik
    grève greve забастовка|strike strikes
ceasefire|up|conflict|ceasefire cease_fire truce peace_deal peace_agreement peace_talks waffenruhe
    cessez_feu alto_fuego withdrawal_forces withdrawal_troops|withdraws withdrawal withdrawing
    peace
conflict|down|conflict|offensive invasion airstrikes shelling frontline troops_advance siege
    retaken stronghold rebels forces_close|battle fighting war deployment troops war_crimes
election|none|politics|election_results wins_election snap_election runoff presidential_election
    general_election elected polls_closed head_polls claims_victory swearing_in sworn_in
    inauguration investiture by_election voting_process tightly_disputed|election elections vote
    votes ballot referendum candidate candidates nominated nominee élection wahl elecciones eleição
    выборы
resignation|down|politics|resigns resigned resignation steps_down stepping_down ousted impeachment
    dismissed_minister no_confidence démissionne rücktritt dimite|quits sacked fired expelled
    expulsion
appointment|none|politics|appointed appoints named_ceo takes_office new_president new_chairman
    nominates elegido_dirigir|appointment names
disaster|down|disaster|earthquake quake tsunami hurricane typhoon cyclone tornado landslide
    wildfire wildfires flooding floods volcanic_eruption avalanche derailment plane_crash
    train_crash séisme terremoto erdbeben inondations hochwasser incêndios incendios winter_storm
    state_disaster acidente autocarro|storm flood eruption crash disaster fire collapse accident
    evacuated drought snow
weather|down|disaster|cold_wave heatwave heat_wave canicule kältewelle ola_frío alerte_orange
    verglas hottest_year hottest_record|froid neige snow heat freezing
outbreak|down|health|outbreak epidemic pandemic bird_flu avian_flu cholera ebola measles h5n1 h5n8
    épidémie vogelgrippe grippe_aviaire quarantine|virus infections cases
acquisition|up|business|acquires acquisition takeover merger buyout to_buy agrees_buy übernimmt
    übernahme rachat adquiere megadeal mega_deal|acquire merge deal bid
layoffs|down|business|layoffs job_cuts cuts_jobs lays_off laid_off redundancies stellenabbau
    licenciements despidos suppression_postes plant_closure schließt_werk|cuts closes closure fired
bankruptcy|down|business|bankruptcy bankrupt insolvency insolvent chapter_11 files_bankruptcy
    defaults_debt insolvenz faillite quiebra|default collapse
earnings|none|business|quarterly_profit quarterly_results record_profit profit_warning
    full_year_results rekordquartal revenue_rose profit_fell beats_estimates third_quarter
    fourth_quarter first_quarter financial_results|profit revenue earnings sales
ratedecision|none|economy|raises_rates cuts_rates rate_hike rate_cut interest_rate_decision
    holds_rates keeps_rates leitzins taux_directeur raised_interest cut_interest key_rate
    benchmark_rate|interest_rate rates inflation
market|none|economy|stocks_fall stocks_rise shares_plunge shares_surge record_high record_low
    market_crash stocks_rally dow_jones aktienabsturz börse_stürzt|plunge surge slump rally tumble
    soar
economy|none|economy|gdp_growth recession unemployment_rate jobs_report inflation_rate
    budget_deficit slower_growth fdi_inflows trade_deficit tax_cut cut_taxes|growth economy jobs
    wages inflation deficit
sanction|down|sanctions|sanctions sanctioned embargo asset_freeze blacklisted export_ban sanktionen
    sanciones slaps_sanctions санкции blacklist|banned ban suspends suspended tariff tariffs
courtruling|none|law|court_rules court_ruling sentenced sentences convicted conviction acquitted
    verdict supreme_court pleads_guilty guilty_plea found_guilty jailed appeals_court upholds
    court_orders stands_trial verurteilt condenado condamné gericht_kippt cleared_charges|court
    judge ruling trial lawsuit charges settlement appeal
arrest|down|law|arrested arrests detained detains detención detenido festgenommen arrestation
    arrêté extradited seized seizure bust raids raid indicted indictment charged_with handcuffs
    arrest|suspect police custody crackdown confiscate
corruption|down|law|corruption bribery graft embezzled embezzlement money_laundering kickbacks
    anti_corruption anti_graft soborno corrupción pots_vin|fraud scandal probe
regulation|none|law|new_law passes_bill signs_law parliament_approves lawmakers_back bill_passes
    first_reading antitrust regulator_fines fined executive_order decree adopts_resolution
    verabschiedet export_controls|law bill regulation legislation ban approves rules
diplomacy|none|politics|recalls_ambassador recalls_envoys recalled_ambassador summit
    bilateral_talks agree_talks state_visit peace_summit signs_treaty start_talks deal_reached
    agreement_reached diplomatic_row expels_diplomats|talks meets meeting agreement envoy treaty
    pact agree visit
launch|up|technology|launches unveils launched unveiled rolls_out introduces debuts new_version
    release_version lança lanza dévoile bringt_auf rocket_launch raketenstart startet
    erreicht_version|launch release announces plans opens
vulnerability|down|cyber|vulnerability vulnerabilities zero_day security_flaw remote_code_execution
    sicherheitslücke vulnerabilidad critical_flaw unpatched exploited_wild cve|patch flaw exploit
    bug update
migration|none|society|refugees migrants asylum_seekers deportations mass_expulsions border_wall
    rejects_refugees flüchtlinge réfugiés abschiebungen|refugee migrant deported border asylum
funding|up|business|raises_million funding_round approves_loan approves_grant million_loan
    million_grant ipo goes_public seed_round emergency_assistance billion_valuation
    investment_round|loan grant investment financing fund raises
death|down|society|dies_aged has_died found_dead death_toll est_mort ist_gestorben muere obituary
    laid_rest passed_away morreu inhumé beerdigt|dies dead death died
"""
