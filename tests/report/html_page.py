"""A page of the HTML report taken apart, and the records that one is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from pytest_modelreg.domain.exhibit import Exhibits
from pytest_modelreg.report import RunFacts, report_document
from pytest_modelreg.report.html import render_html

VOID = frozenset({"meta", "input", "br"})


@dataclass
class Element:
    """An element with what is in it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text inside, as it reads, runs of white space as one space."""
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join("".join(parts).split())

    def find_all(self, tag: str = "", **wanted: str) -> list[Element]:
        """Return elements inside, in order, of this tag, class (``of=``) and attributes."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                classes = child.attributes.get("class", "").split()
                is_meant = (not tag or child.tag == tag) and all(
                    (value in classes) if name == "of" else child.attributes.get(name) == value
                    for name, value in wanted.items()
                )
                found += [child] if is_meant else []
                found += child.find_all(tag, **wanted)
        return found

    def find(self, tag: str = "", **wanted: str) -> Element:
        """Return the only one of these."""
        found = self.find_all(tag, **wanted)
        assert len(found) == 1, (tag, wanted, len(found))
        return found[0]


class Reader(HTMLParser):
    """Builds the tree; what is closed wrongly or not at all is an error."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        """Go into an element."""
        assert len(dict(attrs)) == len(attrs), f"{tag}: an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        """Take an element that holds nothing."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        """Leave an element."""
        if tag not in VOID:
            assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
            self.open.pop()

    def handle_data(self, data):
        """Take text."""
        self.open[-1].children.append(data)


def read_page(text: str) -> Element:
    """Return the page as a tree."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert [element.tag for element in reader.open] == [""], "an element is left open"
    return reader.root


def make_record(name="reference", verdict="drift", rel_l2=0.5, **fields):
    """A record of the JSON report."""
    ran = verdict in ("drift", "stale", "match")
    return {
        "id": f"toy[{name}]",
        "suite": "toy",
        "variant": name,
        "axes": {},
        "verdict": verdict,
        "message": f"about {name}",
        "outputs": {"logits": {"dtype": "float32", "shape": [3, 4], "rel_l2": rel_l2, "max_abs": 1.0}}
        if ran
        else {},
        "checks": [make_check(rel_l2, ok=verdict == "match")] if ran else [],
        "n_samples": 3,
        "drifted_samples": ["s1"] if verdict == "drift" else [],
        "samples": [make_sample(rel_l2=rel_l2, ok=verdict == "match")] if ran else [],
        "inputs_identical": True,
        "causes": [],
        "environment_changes": [],
        "structure": [],
        "notes": [],
        "duration_s": 0.1,
        **fields,
    }


def make_check(value, *, ok=False):
    """A check of a record."""
    return {
        "name": "rel_l2",
        "output": "logits",
        "tag": None,
        "value": value,
        "limit": 1e-5,
        "ok": ok,
        "source": "dtype default",
    }


def make_sample(name="s1", *, rel_l2=0.5, ok=False, expected="cat 0.9", actual="dog 0.8"):
    """A sample of a record."""
    return {
        "id": name,
        "ok": ok,
        "rel_l2": rel_l2,
        "expected": expected,
        "actual": actual,
        "near_tie": False,
    }


def make_cause(name="preprocess.interpolation", summary="nearest instead of bicubic", **evidence):
    """A cause of a record."""
    return {"cause": name, "confidence": 0.98, "summary": summary, "evidence": evidence}


def render(*records, exhibits=None, environment=None, partial=False, **others):
    """The page of a run with these records, as text."""
    run = RunFacts(id="1", started="2026", duration_s=1.0, git_commit="abc", git_dirty=True, partial=partial)
    return render_html(report_document(run, environment or {}, records), exhibits or Exhibits(), **others)
