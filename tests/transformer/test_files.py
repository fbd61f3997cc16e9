"""Models as files: what was saved comes back, and nothing else is taken."""

import json
import math
import os
from copy import deepcopy
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import torch
from refusals import rejected, rejects
from safetensors.torch import load_file, save_file

from constructions import files, induction_heads, load, newton, save, shortcut, trained, values
from constructions.consistency import check_loaded
from constructions.interface import Interface
from constructions.margins import Margin
from constructions.retrieval.previous_token import code_before
from theory.arithmetic import Golden
from theory.computation import S3
from theory.kinds import InputError
from verify.cli.main import main
from verify.ledger.build import built
from verify.ledger.theorems import ledger

BUILT = [entry for entry in ledger().values() if entry.build]


@pytest.mark.parametrize("entry", BUILT, ids=lambda entry: entry.name)
def test_every_construction_comes_back(entry, tmp_path):
    first = {name: tested[0] for name, tested in entry.over.items()}
    model = built(entry, **first)
    save(model, tmp_path / "a.safetensors")
    again = load(tmp_path / "a.safetensors")
    assert again is not model
    assert str(again) == str(model)
    weights, others = model.state_dict(), again.state_dict()
    assert [*weights] == [*others]
    assert all(torch.equal(weights[name], others[name]) for name in weights)
    # What is no tensor is compared as it is written.
    save(again, tmp_path / "b.safetensors")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.safetensors"
    save(newton(2, 3, 1 / 3), path)
    return path


@pytest.mark.filterwarnings("ignore::theory.kinds.OutsideHypotheses")
def test_answers_are_equal_bit_by_bit(saved):
    x, y, query = torch.randn(3, 5, 2).double(), torch.randn(3, 5).double(), torch.randn(3, 2)
    assert torch.equal(load(saved)(x, y, query), newton(2, 3, 1 / 3)(x, y, query))


def test_weights_of_two_layers_that_are_one_are_one_again(tmp_path):
    path, model = tmp_path / "tied.safetensors", newton(2, 2, 0.25)
    first, second = model.attentions[:2]
    second.W_Q = first.W_Q
    table = np.arange(3.0)
    model.extra = {"one": table, "other": table, "equal": np.arange(3.0)}
    save(model, path)
    again = load(path)
    first, second = again.attentions[:2]
    assert first.W_Q is second.W_Q
    assert first.W_K is not second.W_K
    assert again.extra["one"] is again.extra["other"]
    assert again.extra["one"] is not again.extra["equal"]


def test_objects_that_are_met_twice_are_one_again(tmp_path):
    """Modules and others; of those that are equal and two, two come back."""
    path, model = tmp_path / "twice.safetensors", newton(2, 2, 0.25)
    model.blocks[1] = model.blocks[0]
    kept, equal = Margin(2.0), Margin(2.0)
    model.extra = {"one": kept, "other": kept, "equal": equal}
    save(model, path)
    again = load(path)
    assert again.blocks[1] is again.blocks[0]
    assert again.extra["one"] is again.extra["other"]
    assert again.extra["one"] == again.extra["equal"]
    assert again.extra["one"] is not again.extra["equal"]


def test_every_bit_of_a_weight_comes_back(tmp_path):
    path, model = tmp_path / "bits.safetensors", newton(1, 1, 0.25)
    numbers = torch.tensor([[-0.0, torch.nan, -torch.nan], [torch.inf, 5e-324, 1.0]]).double()
    model.extra = {"read across": numbers.T, "one thrice": numbers[:1, :1].expand(3, 3)}
    model.few = {1, "one"}
    save(model, path)
    again = load(path)
    for name, kept in model.extra.items():
        bits = kept.contiguous().view(torch.int64)
        assert torch.equal(again.extra[name].contiguous().view(torch.int64), bits)
    assert again.few == {1, "one"}


@pytest.mark.parametrize(
    "part",
    [
        torch.zeros(2, dtype=torch.complex128),
        torch.zeros(2, 2).to_sparse(),
        np.array([1.0], dtype=np.longdouble),
        np.array([1.0], dtype=">f8"),
    ],
)
def test_tensors_that_no_file_holds_are_refused(tmp_path, part):
    model = newton(1, 1, 0.25)
    model.extra = part
    with rejects("extra"):
        save(model, tmp_path / "model.safetensors")
    model = newton(1, 1, 0.25)
    model.register_buffer("held", torch.ones(1))
    with rejects("held"):
        save(model, tmp_path / "model.safetensors")
    assert [*tmp_path.iterdir()] == []


def test_short_formats_stay_short(tmp_path):
    path = tmp_path / "short.safetensors"
    model = induction_heads(4, 8).half()
    save(model, path)
    again = load(path)
    assert again.like.dtype == torch.float16
    assert again.generate([1, 2, 3, 1], 3).tolist() == [2, 3, 1]


def test_arrays_of_a_partial_stay_apart():
    writer = values.Writer()
    writer.value(partial(code_before, np.array([1, 2]), tokens=np.array([9, 9])), "holds")
    assert sorted(map(max, writer.tensors.values())) == [2, 9]
    with rejects("holds.args.0"):
        writer.value(np.ones(1), "holds.args.0")


def test_a_method_stays_that_of_its_object():
    one = Golden(Fraction(1), Fraction(2))
    written = values.Writer().value({"plus": one.__add__, "one": one}, "")
    again = values.Reader({}).value(json.loads(json.dumps(written)))
    assert again["plus"].__self__ is again["one"]
    assert again["plus"](one) == Golden(Fraction(2), Fraction(4))


def test_layers_that_are_one_stay_one(tmp_path):
    path = tmp_path / "ladder.safetensors"
    model = newton(1, 5, 0.25, "ladder")
    save(model, path)
    shared = [one is other for one, other in pairwise(model.blocks)]
    again = load(path)
    assert [one is other for one, other in pairwise(again.blocks)] == shared
    assert again.n_parameters == model.n_parameters


def test_the_sidecar_can_be_read_by_people(tmp_path):
    path = tmp_path / "shortcut.safetensors"
    record = json.loads(save(shortcut(S3, 10), path, {"name": "shortcut"}).read_text())
    model = shortcut(S3, 10)
    assert record["name"] == model.name
    assert record["source"] == model.source
    assert record["statement"] == {"name": "shortcut"}
    assert record["layers"] == str(model).splitlines()
    assert record["registers"].keys() == {*model.stream}
    assert record["exact"]["bits"] <= 53
    start, stop = [*record["registers"].values()][-1]
    assert stop == model.d_model > start


def changed(saved, change):
    """The sidecar after a change of its record; of its model, as if it had been saved so."""
    sidecar = saved.with_suffix(".json")
    record = json.loads(sidecar.read_text())
    before = deepcopy(record["model"])
    change(record)
    if record.get("model", before) != before:
        record["sha256"] = files._digest(saved.read_bytes(), record)
    sidecar.write_text(json.dumps(record))


def test_a_model_that_was_changed_in_its_sidecar_is_refused(saved):
    sidecar = saved.with_suffix(".json")
    text = sidecar.read_text()
    assert text.count('"linear"') > 0
    sidecar.write_text(text.replace('"linear"', '"softmax"'))
    with rejects(sidecar.name):
        load(saved)


def test_a_file_that_is_no_sidecar_is_not_written_over(tmp_path):
    certificate = tmp_path / "newton.json"
    certificate.write_text('{"claim": "newton", "certificates": []}')
    with rejects(str(certificate)):
        save(newton(1, 0, 1.0), tmp_path / "newton.safetensors")
    assert [*tmp_path.iterdir()] == [certificate]
    assert "certificates" in certificate.read_text()


@pytest.mark.parametrize("taken", ["a.safetensors", "a.json"])
def test_a_folder_in_the_way_is_named(tmp_path, taken):
    (tmp_path / taken).mkdir()
    with rejects(str(tmp_path / taken)):
        save(newton(1, 0, 1.0), tmp_path / "a.safetensors")
    assert [*tmp_path.iterdir()] == [tmp_path / taken]


@pytest.mark.parametrize(
    "name",
    [
        *("model.pt", "no/model.safetensors", "/proc/x.safetensors", ".safetensors"),
        *(f"{'x' * 300}.safetensors", "x\0.safetensors", "\ud800.safetensors"),
    ],
)
def test_where_nothing_can_be_written(tmp_path, name):
    with rejects():
        save(newton(1, 0, 1.0), tmp_path / name)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("value", [float("nan"), {1}, "\ud800"])
def test_what_json_does_not_hold_is_no_statement(tmp_path, value):
    with rejects("statement"):
        save(newton(1, 0, 1.0), tmp_path / "a.safetensors", {"x": value})
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("sizes", [{2: "a", 10: "b"}, {2: "a", "10": "b"}, {1.5: 0, True: 1}])
def test_keys_of_a_statement_are_text(tmp_path, sizes):
    """As JSON has them; sorted as numbers, 2 is before 10."""
    path = tmp_path / "a.safetensors"
    record = json.loads(save(newton(1, 0, 1.0), path, {"sizes": sizes}).read_text())
    assert record["statement"] == json.loads(json.dumps({"sizes": sizes}))
    load(path)


CLASSES = (
    "os:system",
    "constructions:nothing",
    "constructions.files:os",
    "constructions.files:save",
    "constructions.files:Path",
    3,
)
CHANGES = {
    "version 1": lambda record: record.update(weightwright=1),
    "model.safetensors": lambda record: record.update(sha256="0" * 64),
    "sidecar": lambda record: record.pop("model"),
    "not a number": lambda record: record.update(name=math.nan),
    "model": lambda record: record.update(model={"tuple": [1]}),
    "the items of a tuple": lambda record: record["model"].update(items={"list": []}),
    **{str(of): lambda record, of=of: record["model"].update({"class": of}) for of in CLASSES},
    "KeyError": lambda record: record["model"]["fields"].update(name={"pickle": "x"}),
    **{
        str(made): lambda record, made=made: record["model"]["fields"].update(name=made)
        for made in (
            *({"Fraction": "1e99999999"}, {"tuple": {"range": [0, 10**12, 1]}}, {"tuple": "abc"}),
            *({"range": [0, 10**12, 1]}, {"float": "1"}, {"float": 1}, {"slice": "abc"}),
        )
    },
    "ZeroDivisionError": lambda record: record["model"]["fields"].update(name={"Fraction": "1/0"}),
}


@pytest.mark.parametrize("named", CHANGES)
def test_what_was_changed_is_refused(saved, named):
    changed(saved, CHANGES[named])
    with rejects("model.json", *[named] * named.isidentifier()):
        load(saved)


@pytest.mark.parametrize("key", ["name", "source", "statement", "layers", "registers", "format"])
def test_the_description_of_a_model_cannot_be_changed_either(saved, key):
    changed(saved, lambda record: record.update({key: "other"}))
    with rejects("model.json", "changed"):
        load(saved)


def signed(saved, change):
    """The files after a change of the weights by name, as if they had been saved so."""
    weights, record = load_file(saved), json.loads(saved.with_suffix(".json").read_text())
    change(weights)
    save_file(weights, saved)
    record["sha256"] = files._digest(saved.read_bytes(), record)
    saved.with_suffix(".json").write_text(json.dumps(record))


@pytest.mark.parametrize("version", [1, 3, 5, 40, "4", None, 4.5, [4]])
def test_other_versions_are_refused_whoever_wrote_them(saved, version):
    sidecar = saved.with_suffix(".json")
    record = json.loads(sidecar.read_text()) | {"weightwright": version}
    record["sha256"] = files._digest(saved.read_bytes(), record)
    sidecar.write_text(json.dumps(record))
    with rejects(sidecar.name, "version", str(files.VERSION)):
        load(saved)


LISTED = '["weightwright"]', '"notes on weightwright"'


@pytest.mark.parametrize(
    "text", [*("", "[]", "{}", "4", "null", "weightwright", '{"name": "a"}'), *LISTED]
)
def test_no_other_json_file_is_written_over(tmp_path, text):
    (sidecar := tmp_path / "a.json").write_text(text)
    with rejects(str(sidecar)):
        save(newton(1, 0, 1.0), tmp_path / "a.safetensors")
    assert [*tmp_path.iterdir()] == [sidecar]
    assert sidecar.read_text() == text


@pytest.mark.parametrize("place", range(64))
def test_every_digit_of_the_digest_counts(saved, place):
    sidecar = saved.with_suffix(".json")
    record = json.loads(sidecar.read_text())
    digits = list(record["sha256"])
    digits[place] = "0" if digits[place] != "0" else "1"
    sidecar.write_text(json.dumps(record | {"sha256": "".join(digits)}))
    with rejects(sidecar.name, "changed"):
        load(saved)


@pytest.mark.parametrize("entry", [math.nan, pytest.param(-math.inf, marks=pytest.mark.slow)])
def test_weights_that_are_not_finite_are_refused_whoever_wrote_them(saved, entry):
    names = [*load_file(saved)]
    assert len(names) > 5
    for name in names:
        before = load_file(saved)[name]
        if before.numel():
            signed(saved, lambda weights, name=name: weights[name].view(-1)[:1].fill_(entry))
            with rejects("model.json", name):
                load(saved)
            signed(saved, lambda weights, name=name, was=before: weights.update({name: was}))
    load(saved)


@pytest.mark.parametrize("entry", [math.nan, math.inf])
def test_weights_that_are_not_finite_are_not_saved(tmp_path, entry):
    model = newton(2, 1, 0.25)
    with torch.no_grad():
        model.unembed.W_U.view(-1)[:1] = entry
    with rejects("unembed.W_U"):
        save(model, tmp_path / "a.safetensors")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [
        ("Attention", "normalise", [True, "relus"]),
        ("Attention", "masks", [True, [["full"]], {"tuple": ["half"]}]),
        ("Attention", "scale", [True, -1, "1"]),
        ("Block", "norm", [True, "x"]),
        ("Block", "lines", [1]),
        ("Stage", "after", [99, "1"]),
        ("Stage", "register", [1, "nowhere"]),
        ("Transformer", "source", [None]),
        ("Transformer", "stages", [{"tuple": [1]}]),
    ],
)
def test_fields_of_other_types_are_refused_whoever_wrote_them(saved, name, field, values):
    sidecar = saved.with_suffix(".json")
    before = sidecar.read_text()
    for value in values:
        record = json.loads(before)
        objects = of_class(record["model"], name)
        assert objects
        for each in objects:
            each["fields"][field] = value
        sidecar.write_text(json.dumps(record))
        signed(saved, lambda weights: None)
        with rejects("model.json", *[field] * (field != "register")):
            load(saved)
    sidecar.write_text(before)
    load(saved)


def of_class(written, name):
    """The objects of a class, by its name, in a sidecar."""
    inside = written.values() if isinstance(written, dict) else written
    found = [
        each for part in inside if isinstance(part, dict | list) for each in of_class(part, name)
    ]
    is_one = isinstance(written, dict) and str(written.get("class")).endswith(f":{name}")
    return [*found, *[written] * is_one]


@pytest.mark.parametrize("what", ["mkdir", "mkfifo", "symlink"])
def test_what_is_no_regular_file_is_not_called_missing(saved, what):
    saved.unlink()
    {"mkdir": os.mkdir, "mkfifo": os.mkfifo, "symlink": lambda at: os.symlink(at, at)}[what](saved)
    with pytest.raises(InputError) as caught:
        load(saved)
    assert str(caught.value).count(str(saved)) == 1


@pytest.mark.slow
def test_shapes_that_do_not_fit_are_refused_whoever_wrote_them(saved):
    for name, before in load_file(saved).items():
        for dim in range(before.ndim):
            if (name, dim) in (("embed.W_E", 0), ("unembed.W_U", 1)):
                continue  # the widths of prompts and outputs, which only the interface knows
            wider = torch.cat([before, before.narrow(dim, 0, 1)], dim=dim)
            signed(saved, lambda weights, name=name, to=wider: weights.update({name: to}))
            with rejects("model.json", "shape"):
                load(saved)
            signed(saved, lambda weights, name=name, was=before: weights.update({name: was}))
    load(saved)


def test_weights_of_another_dtype_are_refused_whoever_wrote_them(saved):
    for name in ("embed.W_E", "unembed.W_U"):
        before = load_file(saved)[name]
        short = before.float()
        signed(saved, lambda weights, name=name, to=short: weights.update({name: to}))
        with rejects("model.json", "unembed.W_U", "float32"):
            load(saved)
        signed(saved, lambda weights, name=name, was=before: weights.update({name: was}))
    load(saved)


def test_models_that_do_not_fit_together_are_refused():
    def changed(change):
        change(model := newton(1, 0, 1.0))
        return model

    check_loaded(newton(1, 0, 1.0))
    with rejects("unembed.W_U"):
        whole = torch.nn.Parameter(torch.ones(3, 1, dtype=torch.int64), requires_grad=False)
        check_loaded(changed(lambda model: setattr(model.unembed, "W_U", whole)))
    with rejects("W_U", "shape"):
        wide = torch.nn.Parameter(torch.ones(99, 1, dtype=torch.float64))
        check_loaded(changed(lambda model: setattr(model.unembed, "W_U", wide)))
    with rejects("interface"):
        check_loaded(changed(lambda model: delattr(model, "interface")))


@pytest.mark.parametrize("name", ["ln_final.w", "ln_final.b", "b_U"])
def test_shapes_of_normalisations_and_of_output_biases_are_checked(name):
    model = trained.load("regression-small-seed0")
    part, own = (model.unembed, name) if name == "b_U" else (model.ln_final, name[-1])
    twice = torch.cat([getattr(part, own)] * 2).detach()
    check_loaded(model)
    setattr(part, own, torch.nn.Parameter(twice))
    with rejects(name, "shape", str(tuple(twice.shape))):
        check_loaded(model)


def test_damaged_files_are_refused(saved):
    for name in ("other.safetensors", "model.pt"):
        with rejects(name):
            load(saved.with_name(name))
    saved.write_bytes(saved.read_bytes()[:-1])
    sidecar = saved.with_suffix(".json")
    for damage in (lambda: None, lambda: sidecar.write_text("{"), sidecar.unlink):
        damage()
        with rejects("model.json"):
            load(saved)


def test_parts_without_a_name_are_refused(tmp_path):
    class Local(Interface):
        def check(self, like, *inputs):
            return inputs

        def write(self, xp, *inputs):
            raise NotImplementedError

    model = newton(1, 0, 1.0)
    for part in (Local(), np.array(["a"]), np.float64(1), lambda: 1):
        model.__dict__.pop("interface", None)
        model._modules.pop("interface", None)
        model.interface = part
        with rejects("interface"):
            save(model, tmp_path / "model.safetensors")
    assert [*tmp_path.iterdir()] == []


def test_a_statement_becomes_a_file(tmp_path, capsys):
    path = tmp_path / "newton.safetensors"
    assert main(["build", "newton-direct", "--at", "k=3", "--save", str(path)]) == 0
    shown = capsys.readouterr().out.splitlines()
    model = load(path)
    assert shown[:-1] == str(model).splitlines()
    assert (model.n_layers, model.d_model) == (5, 2 * 4 + 2)
    record = json.loads(path.with_suffix(".json").read_text())
    assert record["statement"]["name"] == "newton-direct"
    assert record["statement"]["sizes"] == {"layers": "k + 2", "heads": "1", "width": "2*d + 2"}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("newton-direct --at q=3", "q d"),
        ("newton-direct --at k", "k"),
        ("newton-direct --at k=x", "k=x"),
        ("newton-direct --at k=3 --at k=4", "k"),
        ("newton-direct --at k=-1", "k -1"),
        ("newton-dirct", "newton-direct"),
        ("least-squares", "least-squares"),
        ("newton-direct --save x.pt", "x.pt"),
    ],
)
def test_what_cannot_be_built(words, names, capsys):
    rejected(capsys, ["build", *words.split()], *names.split())


def test_a_name_near_that_of_a_file_or_of_a_shipped_model_is_suggested(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(induction_heads(4, 8), "induction.safetensors")
    for name in ("inductoin", "inductoin.safetensors"):
        with rejects("induction.safetensors"):
            load(name)
    with rejects("addition-minilm-seed0"):
        load("addition-minilm-sed0")
