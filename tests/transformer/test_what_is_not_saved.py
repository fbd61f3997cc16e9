"""What `save` rejects: objects that no module of the library defines, and missing folders."""

from refusals import rejects

from constructions import newton, save


def test_what_no_module_of_the_library_defines_is_refused(tmp_path):
    """A class of another package, and one that cannot be imported by its name."""

    class Local:
        pass

    model = newton(1, 1, 0.25)
    for module in (__name__, "constructions.values"):
        Local.__module__ = module
        model.extra = Local()
        with rejects("extra"):
            save(model, tmp_path / "model.safetensors")
    assert [*tmp_path.iterdir()] == []


def test_a_missing_folder_is_named(tmp_path):
    with rejects(str(tmp_path / "missing"), "folder"):
        save(newton(1, 0, 1.0), tmp_path / "missing" / "a.safetensors")
    assert [*tmp_path.iterdir()] == []
