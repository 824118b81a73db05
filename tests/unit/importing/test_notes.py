from tidegate.importing.notes import Note, Notes, Variable


def test_a_secret_becomes_a_variable_and_is_kept_nowhere() -> None:
    notes = Notes()
    assert notes.secret("os.environ/MINE", "a.b", ("openai", "key")) == "env:MINE"
    assert notes.secret("plain", "c.d", ("openai", "key")) == "env:OPENAI_KEY"
    assert notes.secret("other", "e.f", ("openai", "key")) == "env:OPENAI_KEY_2"
    assert notes.secret("plain", "g.h", ("azure", "key")) == "env:OPENAI_KEY"
    assert notes.variables == (
        Variable("MINE", "as before (a.b)"),
        Variable("OPENAI_KEY", "what stands at c.d"),
        Variable("OPENAI_KEY_2", "what stands at e.f"),
    )


def test_no_name_is_taken_that_the_source_uses() -> None:
    notes = Notes("api_key: os.environ/OPENAI_KEY")
    assert notes.secret("plain", "a", ("openai", "key")) == "env:OPENAI_KEY_2"


def test_names_are_names_of_variables() -> None:
    notes = Notes()
    assert notes.secret("a", "a", ("header", "x-team key")) == "env:HEADER_X_TEAM_KEY"
    assert notes.secret("b", "b", ("4", "you")) == "env:KEY_4_YOU"
    assert notes.secret("c", "c", ("北京",)) == "env:SECRET"


def test_notes_are_gathered() -> None:
    notes = Notes()
    notes.leave("a", "no")
    notes.change("b", "yes")
    assert (notes.left, notes.changed) == ([Note("a", "no")], [Note("b", "yes")])
