"""Pages that trials edit (the plan `edit`)."""

from bench.cluster import Cluster, Person
from bench.faults.takes import Take


def page_of(cluster: Cluster, person: Person) -> str:
    """A page of a person's own that the plan `edit` can edit; its id."""
    page = {"spaceId": str(person.space_id), "title": "To be edited", "markdown": "Marks here: ."}
    with cluster.client(person) as client:
        made = client.post("/v1/pages", json=page)
        return str(made.raise_for_status().json()["id"])


def edits(cluster: Cluster, take: Take, wanted: int) -> list[str]:
    """How often the trial's edit stands in a page."""
    query = "SELECT text_content FROM pages WHERE space_id = %s"
    rows = cluster.sql(query, take.person.space_id)
    found = sum(row[0].count(f"edit:{take.trial}:") for row in rows)
    return [] if found == wanted else [f"{found} edits, wanted {wanted}"]
