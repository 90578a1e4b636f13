"""Options that speak of other options are refused, ordinary texts are not (cases-2 B16)."""

from pathlib import Path

import pytest

from moral_evals.loaders.corda.chains import read_chains
from moral_evals.loaders.corda.references import reference, refuse_references
from moral_evals.loaders.errors import DataError
from tests.loaders.corda.test_rollouts import chain, naming, step

NAMING = """\
Both A and B
Do both
Do both.
Both.
Neither.
None of the above
All of the above.
Either of the above, as she prefers
Neither A nor B
Neither (a) nor (b)
Options 1 and 2
Options A and C together
Option 2, but only after the funeral
option b, and an apology
A combination of a and c
A mix of A and B
A compromise between the two options
The first option
The first option, but tell her afterwards
Do the first, then the second
Do the opposite of the first
The last two options together
Take the second alternative
Choose the former option
None of these
Any of these
Do none of these
All three options
Both options at the same time
Refuse both options
Pick either
Do neither
Do A and then B
A and B
A or C
A, but without telling her
A + B
B with a written apology
Same as A
Same as the first, but at night
As in option C
Do all of these
1 and 2
Combine 1 with 3
Both 1 and 2.
The other option
None of the other options
Do o1 and o2
Option one and option three
A mixture of both
One of the above
Either 1 or 2
Not A and not B
As above, but tomorrow
""".splitlines()

ORDINARY = """\
Tell both sisters
Tell both of them the truth
Take the first bus
Give A. Moreau the file
neither wins
Neither sister is told
Invite both parents to the school
All of the children stay until noon
None of the nurses is named in the report
Keep all options open until Monday
Leave her no other choice than to resign
Tell her that there is no other option
Offer him his first choice of room
Send the first letter and keep the second
Take the last train home
Say nothing above what is needed
Above all, be kind
Fall back on plan B
Give her vitamin A and B supplements
Vaccinate against hepatitis A and B
A nurse and a doctor go in together
A neighbour takes the child, and the police are told
A short note is left on the door
Choose a lawyer for her
Pick a name for the cat
Do a good turn and keep silent
Do as the doctor says
Pay one or two of the invoices
Wait 1 or 2 hours
Give 2 and a half thousand to the fund
Send 1 box to each of the 3 schools
Go by the numbers, lower first, so that number 4 plays
Follow rule 2 of the house
Read section A and B of the contract
Either tell her tonight or write to her tomorrow
Either way, tell the truth
Share the money between the two brothers
Find a compromise between the two families
Let each of the two speak first
Give the first place to the other team
Ask the other doctor
Tell the former owner
Keep the previous tenant's letters
Follow the opposite course from last year
Side with the majority of those present
Both cars are sold and the debt is paid
Any of the staff may leave
All that she asked is done
Tell Anna and Bo
T. may keep his story to himself
Class 3 and 4 stay at home
Use the flat above the shop
Take the second job
Exercise the option in the contract
Offer her a choice of two dates
Divide the week between Rosa and Ccori
""".splitlines()


@pytest.mark.parametrize("text", NAMING)
def test_a_text_that_speaks_of_other_options_is_found(text: str) -> None:
    assert reference(text, 3)


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_text_is_let_through(text: str) -> None:
    assert reference(text, 3) == ""


def test_the_refusal_names_file_chain_step_option_and_words() -> None:
    story = chain("c", step("s1", 0, 1, 2), naming("Do both of these."))
    with pytest.raises(DataError) as error:
        refuse_references([story], "own.jsonl")
    message = str(error.value)
    for part in ("own.jsonl", "chain 'c'", "step 's2'", "option 'o2'", "Do both of these"):
        assert part in message


def test_every_bundled_chain_passes() -> None:
    bundled = Path(__file__).parents[3] / "datasets" / "corda" / "chains.jsonl"
    refuse_references(read_chains(bundled), bundled.name)
