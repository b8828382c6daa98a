"""Lists of sanctions as OFAC and the United Nations publish them."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.model import DocumentRefused, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.sanctions import remarks
from svc_core.formats.table import FORMATS, Document, read_document, recognise_format

REAL = Path(os.environ.get("SVC_REAL_DATA", ""))  # noqa: TID251 - what the tests are given


def parse(text: str | bytes, id_: str, name: str = "", **options: str) -> Document:
    data = text if isinstance(text, bytes) else text.encode()
    assert recognise_format(Body(data)).id == id_
    return read_document(Body(data), FORMATS[id_], Origin(options=options, name=name))


def members(document: Document, key: str) -> Any:
    (record,) = (record for record in document.records if record.key == key)
    return record.members


def kinds(document: Document) -> dict[str, int]:
    return dict(Counter(record.members.get("type") for record in document.records))


# -- OFAC: real documents ----------------------------------------------------------------------


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (
            "sdn.csv",
            {"organization": 2994, "person": 3845, "vessel": 323, "aircraft": 217}
            | {"associate": 2386},
        ),
        ("cons_prim.csv", {"organization": 363, "person": 79, "associate": 282}),
        ("alt.csv", {None: 3196}),
        ("add.csv", {None: 7379}),
    ],
)
def test_every_line_of_a_real_list_is_counted(name: str, counts: Any) -> None:
    document = parse((REAL / "ofac" / name).read_bytes(), "ofac", name)
    assert (kinds(document), document.rejections) == (counts, ())


@pytest.mark.needs("SVC_REAL_DATA")
def test_the_parts_of_a_real_list_tell_of_the_same_entity() -> None:
    sdn, alt, add = (
        members(parse((REAL / "ofac" / f"{part}.csv").read_bytes(), "ofac"), "ofac-uid:306")
        for part in ("sdn", "alt", "add")
    )
    assert (sdn["name"], sdn["weakAliases"]) == ("BANCO NACIONAL DE CUBA", ["BNC"])
    assert [item["programId"] for item in sdn["sanctions"]] == ["CUBA"]
    assert alt["aliases"] == ["NATIONAL BANK OF CUBA"]
    assert add["countryCodes"] == ["CH", "ES", "JP", "PA"]
    assert add["addresses"][0] == "Zweierstrasse 35, Zurich CH-8022, Switzerland"


@pytest.mark.needs("SVC_REAL_DATA")
def test_a_real_listing_has_its_securities_its_programs_and_its_date() -> None:
    document = parse((REAL / "ofac" / "cons_prim.csv").read_bytes(), "ofac", "cons_prim.csv")
    (telecom,) = (record for record in document.records if "ofac-uid:30882" in record.other_keys)
    assert telecom.key == "isin:CND100020NC4"
    (listing,) = telecom.members["sanctions"]
    assert (listing["programId"], listing["listedDate"]) == ("CMIC-EO13959", "2021-06-03")
    assert listing["listName"] == "Consolidated List"
    rosneft = members(document, "ofac-uid:17022")
    assert [item["programId"] for item in rosneft["sanctions"]] == [
        "UKRAINE-EO13662",
        "RUSSIA-EO14024",
    ]
    assert [(item["kind"], item["value"]) for item in rosneft["identifiers"]] == [
        ("registration", "1027700043502"),
        ("taxId", "7706107510"),
    ]


# -- OFAC: traps -------------------------------------------------------------------------------

HEAD = '36,"AEROCARIBBEAN AIRLINES",-0- ,"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \r\n'


def sdn(remarks_: str = "", *, uid: str = "7", name: str = "A", rest: str = "") -> str:
    rest = rest or '"individual","SDGT",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- '
    return f'{HEAD}{uid},"{name}",{rest},"{remarks_}"\r\n'


@pytest.mark.parametrize(
    ("remarks_", "members"),
    [
        ("DOB 03 Aug 1971; alt. DOB Aug 1972; alt. DOB circa 1973.",
         {"birthDates": ["1971-08-03", "1972-08", "1973"]}),
        ("DOB 1960 to 1962; alt. DOB circa 1979-1982; alt. DOB 01 Xyz 1970; alt. DOB unknown.",
         {"birthDates": ["1960/1962", "1979/1982"]}),
        ("POB Cali, Valle, Colombia; Gender Female.",
         {"birthPlaces": ["Cali, Valle, Colombia"], "gender": "female"}),
        ("nationality Korea, North; citizen The Gambia; alt. citizen Nowhere.",
         {"countryCodes": ["KP", "GM"]}),
        ("a.k.a. 'EL NINO'; f.k.a. 'OLD'; alt. a.k.a. 'EL NINO'.",
         {"weakAliases": ["EL NINO", "OLD"]}),
        ("Nationality of Registration Russia; Organization Established Date 17 Oct 1990.",
         {"jurisdiction": "RU", "countryCodes": ["RU"],
          "validity": {"from": "1990-10-17", "to": None}}),
        ("Passport A1 (Colombia); alt. Passport B2 (Nowhere) issued 01 Apr 2010; Tax ID No. 3.",
         {"identifiers": [{"kind": "passport", "value": "A1", "countryCode": "CO"},
                          {"kind": "passport", "value": "B2", "countryCode": None},
                          {"kind": "taxId", "value": "3", "countryCode": None}]}),
        ("Legal Entity Number 253400V1H6ART1UQ0N98 (Russia); alt. Legal Entity Number 851683897; "
         "SWIFT/BIC VTBRRUMM; Website http://www.vtb.ru/en; alt. Website no host; "
         "alt. Website http://[x.",
         {"designators": ["lei:253400V1H6ART1UQ0N98", "ofac-uid:7", "bic:VTBRRUMM",
                          "domain:vtb.ru"]}),
        ("something in words; Registration Numbe", {"identifiers": [], "weakAliases": []}),
    ],
)  # fmt: skip
def test_remarks_are_unpacked(remarks_: str, members: dict[str, Any]) -> None:
    document = parse(sdn(remarks_), "ofac").records[1].members
    content = {name: document[name] for name in members}
    if "designators" in content:
        content["designators"] = [
            f"{name['scheme']}:{name['value']}" for name in content["designators"]
        ]
    assert content == members


def test_a_listing_has_a_reason_and_a_date_only_of_its_own_program() -> None:
    rest = '-0- ,"SDGT] [RUSSIA-EO14024",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- '
    note = "Secondary sanctions risk: Section 11; Listing Date (EO 14024 Directive 3): 24 Feb 2022"
    row = members(parse(sdn(f"{note}; Listing Date soon.", rest=rest), "ofac"), "ofac-uid:7")
    assert row["type"] == "organization"
    assert row["sanctions"] == [
        {
            "programId": program,
            "authority": "Office of Foreign Assets Control",
            "listName": "SDN List",
            "listedDate": date,
            "reason": "Secondary sanctions risk: Section 11",
            "status": "active",
        }
        for program, date in (("SDGT", None), ("RUSSIA-EO14024", "2022-02-24"))
    ]


def test_a_vessel_has_its_flag_and_its_marks() -> None:
    rest = '"vessel","CUBA",-0- ,"CL2","General Cargo","2,597","1098","Cuba","Owner" '
    note = "Vessel Registration Identification IMO 9187629."
    row = members(parse(sdn(note, rest=rest), "ofac"), "ofac-uid:7")
    assert (row["type"], row["description"], row["countryCodes"]) == (
        "vessel", "General Cargo", ["CU"],
    )  # fmt: skip
    assert [(item["kind"], item["value"]) for item in row["identifiers"]] == [
        ("imo", "9187629"),
        ("callSign", "CL2"),
    ]


def relations(text: str) -> list[Record]:
    return [record for record in parse(text, "ofac").records if record.resource == "relation"]


def test_a_link_leads_to_the_one_entity_of_that_name() -> None:
    note = "Linked To: AEROCARIBBEAN AIRLINES; alt. Linked To: NOBODY."
    (link,) = relations(sdn(note))
    assert link.key == "associate|ofac-uid:36|ofac-uid:7"
    assert not link.members["directed"]
    assert not relations(sdn(note) + HEAD.replace("36", "37"))


@pytest.mark.parametrize(
    ("body", "records", "rejection"),
    [
        (HEAD, 1, 0),
        (HEAD + "\x1a", 1, 0),
        (HEAD + "\x1a\r\n", 1, 0),
        (HEAD.strip() + "\x1a", 1, 0),
        (HEAD + '37,"B"\r\n' + HEAD, 1, 1),
        (HEAD + HEAD.replace('"AEROCARIBBEAN AIRLINES"', "-0- "), 1, 1),
        (HEAD + HEAD.replace("36", "x"), 1, 1),
        ('36,12,"aka","A",-0- \r\n36,13,"fka","B","weak"\r\n37,14,"aka",-0- ,-0- \r\n', 1, 1),
        ('36,25,-0- ,-0- ,-0- ,-0- \r\n36,26,-0- ,"Havana","Cuba",-0-', 1, 0),
    ],
)
def test_a_line_that_cannot_be_used_fails_no_other(body: str, records: int, rejection: int) -> None:
    document = parse(body, "ofac")
    assert (len(document.records), document.rejection_count) == (records, rejection)


def test_a_weak_alias_is_marked_in_its_remarks() -> None:
    row = members(
        parse('36,12,"aka","A",-0- \r\n36,13,"fka","B","weak aka"\r\n', "ofac"), "ofac-uid:36"
    )
    assert (row["aliases"], row["weakAliases"]) == (["A"], ["B"])


@pytest.mark.parametrize(
    ("body", "options", "code"),
    [
        (HEAD + '37,"B",-0- ,"CU', {}, "truncated"),
        (HEAD + sdn("DOB 1960; PO")[len(HEAD) : -3], {}, "truncated"),
        (HEAD, {"part": "alt"}, "option"),
        (HEAD, {"list": "sdn"}, "option"),
    ],
)
def test_a_list_that_is_cut_off_or_another_part_is_refused(body, options, code) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        parse(body, "ofac", **options)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    "body",
    [
        "36,a\rb,-0- \n",
        "1,2,3\n-0-\n",
        'a,12,"aka","A",-0- \n',
        HEAD.replace("-0-", "").replace('"', ""),
    ],
)
def test_other_tables_are_no_list(body: str) -> None:
    assert not FORMATS["ofac"].recognise(Body(body.encode()))


def test_no_remarks_say_nothing() -> None:
    assert remarks.parse_remarks(None) == {}


# -- United Nations ----------------------------------------------------------------------------


def un(individual: str = "", *, entity: str = "", root: str = "CONSOLIDATED_LIST") -> str:
    parts = f"<INDIVIDUALS>{individual}</INDIVIDUALS><ENTITIES>{entity}</ENTITIES>"
    return f'<?xml version="1.0"?><{root} dateGenerated="2026-01-02T03:04:05Z">{parts}</{root}>'


def tags(**members: str) -> str:
    return "".join(f"<{name}>{value}</{name}>" for name, value in members.items())


NAME_TAGS = tags(DATAID="1", FIRST_NAME="Ri", SECOND_NAME="Won", REFERENCE_NUMBER="KPi.1")


def individual(**members: str) -> Any:
    document = parse(un(f"<INDIVIDUAL>{NAME_TAGS}{tags(**members)}</INDIVIDUAL>"), "un-sanctions")
    (record,) = document.records
    return record


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, {"type": "person", "name": "Ri Won", "aliases": [], "weakAliases": [],
              "countryCodes": [], "birthDates": [], "gender": None, "description": None}),
        ({"THIRD_NAME": "Ho", "FOURTH_NAME": ""}, {"name": "Ri Won Ho"}),
        ({"NAME_ORIGINAL_SCRIPT": "원호"}, {"aliases": ["원호"]}),
        ({"INDIVIDUAL_ALIAS": tags(QUALITY="Low", ALIAS_NAME="K")}, {"weakAliases": ["K"]}),
        ({"INDIVIDUAL_ALIAS": tags(QUALITY="Good", ALIAS_NAME="K")}, {"aliases": ["K"]}),
        ({"INDIVIDUAL_ALIAS": "<QUALITY/><ALIAS_NAME/>"}, {"aliases": [], "weakAliases": []}),
        ({"INDIVIDUAL_DATE_OF_BIRTH": tags(DATE="1964-07-17", YEAR="1964")},
         {"birthDates": ["1964-07-17"]}),
        ({"INDIVIDUAL_DATE_OF_BIRTH": tags(DATE="approximately", YEAR="1964")},
         {"birthDates": ["1964"]}),
        ({"INDIVIDUAL_DATE_OF_BIRTH": tags(FROM_YEAR="1951", TO_YEAR="1953")},
         {"birthDates": ["1951/1953"]}),
        ({"INDIVIDUAL_DATE_OF_BIRTH": ""}, {"birthDates": []}),
        ({"INDIVIDUAL_PLACE_OF_BIRTH": tags(CITY="Suva", COUNTRY="Fiji")},
         {"birthPlaces": ["Suva, Fiji"]}),
        ({"INDIVIDUAL_ADDRESS": tags(COUNTRY="China", CITY="Dandong")},
         {"addresses": ["Dandong, China"], "countryCodes": ["CN"]}),
        ({"NATIONALITY": "<VALUE>Democratic People's Republic of Korea</VALUE><VALUE/>"},
         {"countryCodes": ["KP"]}),
        ({"DESIGNATION": "<VALUE>Official</VALUE><VALUE>Colonel</VALUE>", "GENDER": "Male"},
         {"description": "Official; Colonel", "gender": "male"}),
        ({"INDIVIDUAL_DOCUMENT": tags(TYPE_OF_DOCUMENT="Passport", NUMBER="3",
                                      COUNTRY_OF_ISSUE="Kenya")},
         {"identifiers": [{"kind": "passport", "value": "3", "countryCode": "KE"}]}),
        ({"INDIVIDUAL_DOCUMENT": tags(TYPE_OF_DOCUMENT="National Identification Number",
                                      NUMBER="4")},
         {"identifiers": [{"kind": "nationalId", "value": "4", "countryCode": None}]}),
    ],
)  # fmt: skip
def test_an_individual_is_told_by_its_members(members: Any, expected: Any) -> None:
    record = individual(**members)
    assert record.key == "un-ref:KPi.1"
    assert {name: record.members[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("members", "date", "status", "stamp"),
    [
        ({"LISTED_ON": "2016-11-30"}, "2016-11-30", "active", "2016-11-30"),
        ({"LISTED_ON": "2001-01-25-05:00"}, "2001-01-25", "active", None),
        ({"LISTED_ON": "30.11.2016", "LAST_DAY_UPDATED": "<VALUE>2017-06-05</VALUE>"},
         None, "active", "2017-06-05"),
        ({"LAST_DAY_UPDATED": "<VALUE>2018-01-02</VALUE><VALUE>2017-06-05</VALUE><VALUE/>",
          "DELISTED_ON": "2020-01-01"}, None, "delisted", "2018-01-02"),
    ],
)  # fmt: skip
def test_a_listing_has_its_dates(members: Any, date: Any, status: str, stamp: Any) -> None:
    record = individual(UN_LIST_TYPE="DPRK", COMMENTS1="Why.", **members)
    (listing,) = record.members["sanctions"]
    assert listing == {
        "programId": "DPRK",
        "authority": "United Nations Security Council",
        "listName": "UN Security Council Consolidated List",
        "listedDate": date,
        "reason": "Why.",
        "status": status,
    }
    if stamp is not None:
        assert record.stamp.date().isoformat() == stamp


def test_an_entity_is_an_organization_and_its_aliases_are_strong() -> None:
    alias = f"<ENTITY_ALIAS>{tags(QUALITY='f.k.a.', ALIAS_NAME='Old')}</ENTITY_ALIAS>"
    body = un(entity=f"<ENTITY>{NAME_TAGS}{alias}</ENTITY>")
    document = parse(body, "un-sanctions")
    (record,) = document.records
    assert (record.members["type"], record.members["aliases"]) == ("organization", ["Old"])
    assert document.metadata.stamp.isoformat() == "2026-01-02T03:04:05+00:00"


def test_name_spaces_change_nothing() -> None:
    body = un(f"<INDIVIDUAL>{NAME_TAGS}</INDIVIDUAL>").replace(
        "<CONSOLIDATED_LIST", '<CONSOLIDATED_LIST xmlns="urn:un"'
    )
    assert [record.members["name"] for record in parse(body, "un-sanctions").records] == ["Ri Won"]


def test_one_without_a_reference_or_a_name_is_left_out() -> None:
    bare = "<INDIVIDUAL><DATAID>9</DATAID><FIRST_NAME>Ri</FIRST_NAME></INDIVIDUAL>"
    nameless = f"<ENTITY>{tags(REFERENCE_NUMBER='KPe.1')}</ENTITY>"
    document = parse(un(bare, entity=nameless), "un-sanctions")
    assert [(rejection.reason, rejection.sample) for rejection in document.rejections] == [
        ("lacks REFERENCE_NUMBER", "9"),
        ("lacks a name", "None"),
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (un(f"<INDIVIDUAL>{NAME_TAGS}</INDIVIDUAL>").partition("<ENTITIES>")[0], "truncated"),
        (un("<INDIVIDUAL>&x;</INDIVIDUAL>").replace("?>", '?><!DOCTYPE a [<!ENTITY x "y">]>'),
         "entityBomb"),
    ],
)  # fmt: skip
def test_a_list_that_is_not_whole_xml_is_refused(body: str, code: str) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        parse(body, "un-sanctions")
    assert refusal.value.code == code
