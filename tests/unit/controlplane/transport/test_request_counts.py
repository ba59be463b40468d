"""What is counted of requests, and that their callers can't make it grow."""

from controlplane.transport.request_counts import BOUNDS_S, NO_ROUTE, RequestCounts


def test_an_answer_counts_in_the_span_of_its_time() -> None:
    counts = RequestCounts()
    for took_s in (0.0, 0.005, 0.0051, 29.0, 30.1):
        counts.note("GET", "/v1/messages", 200, took_s)
    counts.note("GET", "/v1/messages", 429, 0.001)
    route = counts.routes["GET", "/v1/messages"]
    assert route.statuses == {200: 5, 429: 1}
    assert BOUNDS_S == (0.005, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0)
    assert route.spans == [3, 1, 0, 0, 0, 0, 1, 1]  # the last one of what took longer than all of these
    assert route.total_s == sum((0.0, 0.005, 0.0051, 29.0, 30.1, 0.001))


def test_methods_and_paths_of_a_stranger_are_one_row() -> None:
    counts = RequestCounts()
    for number in range(100):
        counts.note(f"ODD{number}", None, 404, 0.001)
    assert counts.routes.keys() == {NO_ROUTE}
