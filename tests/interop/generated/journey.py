"""The main journey through the client that openapi-python-client made of /openapi.json.

test_generated_clients.py tells the steps: this prints the inbox's address, and goes on when a line on stdin says
that the mail is there. It runs as a program of its own, with the generated package beside it.
"""

import json
import os
import sys

from client import AuthenticatedClient
from client.api.attachments import get_attachment
from client.api.inboxes import create_inbox, get_inbox
from client.api.messages import get_message, list_messages, send_message
from client.api.threads import get_thread
from client.models import (
    CreateInbox,
    Error,
    InboxAnswer,
    ListedMessageAnswer,
    ListedMessageList,
    ListMessagesDirection,
    MessageAnswer,
    SendMessage,
    WholeThreadAnswer,
)


def tell(**line):
    print(json.dumps(line), flush=True)


client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])

made = create_inbox.sync(client=client, body=CreateInbox(username="typed", name="Typed"))
assert isinstance(made, InboxAnswer), made
inbox = made.data
tell(address=inbox.address)
sys.stdin.readline()

page = list_messages.sync(
    client=client,
    inbox_id=inbox.id,
    direction=ListMessagesDirection.INBOUND,
    since=inbox.created_at,
    limit=10,
)
assert isinstance(page, ListedMessageList), page
shown = get_message.sync(page.data[0].id, client=client)
assert isinstance(shown, MessageAnswer), shown
message = shown.data

reply = send_message.sync(
    client=client,
    body=SendMessage(
        inbox_id=inbox.id,
        to=[message.from_address],
        subject=f"Re: {message.subject}",
        text="It is paid.",
        in_reply_to=message.id,
    ),
)
assert isinstance(reply, ListedMessageAnswer), reply
thread = get_thread.sync(reply.data.thread_id, client=client)
assert isinstance(thread, WholeThreadAnswer), thread

missing = get_inbox.sync("inb_none", client=client)
assert isinstance(missing, Error), missing
file = get_attachment.sync(message.attachments[0].id, client=client)

tell(
    text=message.text_body,
    replyId=reply.data.id,
    threadId=thread.data.id,
    directions=[one.direction for one in thread.data.messages],
    code=missing.error.code,
    bytes=len(file.payload.read()),
)
