"""All pages on one screen, below /console. What they show of the API they ask operations for."""

from controlplane.console.page import PageRoute
from controlplane.console.pages import (
    drafts,
    inboxes,
    keys,
    messages,
    overview,
    policies,
    reviews,
    rules,
    threads,
)

# fmt: off
PAGES: tuple[PageRoute, ...] = (
    PageRoute("GET", "", overview.show),
    PageRoute("GET", "/inboxes", inboxes.show_list),
    PageRoute("POST", "/inboxes", inboxes.create),
    PageRoute("GET", "/inboxes/{id}", inboxes.show),
    PageRoute("GET", "/inboxes/{id}/policy", policies.show_of_inbox),
    PageRoute("POST", "/inboxes/{id}/policy", policies.replace_of_inbox),
    PageRoute("GET", "/threads/{id}", threads.show),
    PageRoute("POST", "/threads/{id}/archive", threads.archive),
    PageRoute("POST", "/threads/{id}/read", threads.mark_read),
    PageRoute("GET", "/messages/{id}", messages.show),
    PageRoute("POST", "/messages/{id}/labels", messages.change_labels),
    PageRoute("GET", "/messages/{id}/html", messages.show_html),
    PageRoute("GET", "/messages/{id}/raw", messages.download),
    PageRoute("GET", "/attachments/{id}", messages.download_attachment),
    PageRoute("GET", "/reviews", reviews.show_list),
    PageRoute("GET", "/reviews/{id}", reviews.show),
    PageRoute("POST", "/reviews/{id}/approve", reviews.approve),
    PageRoute("POST", "/reviews/{id}/reject", reviews.reject),
    PageRoute("POST", "/reviews/{id}/edit", reviews.edit),
    PageRoute("GET", "/drafts/{id}", drafts.show),
    PageRoute("POST", "/drafts/{id}", drafts.save),
    PageRoute("POST", "/drafts/{id}/discard", drafts.discard),
    PageRoute("GET", "/keys", keys.show_list),
    PageRoute("POST", "/keys", keys.mint),
    PageRoute("GET", "/keys/minted", keys.show_minted),
    PageRoute("POST", "/keys/{id}/revoke", keys.revoke),
    PageRoute("GET", "/rules", rules.show_list),
    PageRoute("POST", "/rules", rules.create),
    PageRoute("POST", "/rules/policy", policies.replace),
    PageRoute("POST", "/rules/recommended", policies.adopt),
    PageRoute("POST", "/rules/{id}/delete", rules.delete),
)
# fmt: on
