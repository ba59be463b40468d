// A class for each resource, a method for each operation. Generated from /openapi.json by scripts/clients.
import { fields, segment } from "./given.js";
import { Pages } from "./pages.js";
import type * as api from "./schema.js";
import { type Call, type Octets, type RequestOptions, type Transport, type WriteOptions } from "./transport.js";

class Resource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected get transport(): Transport {
    return this.#transport;
  }
}

/** `client.organization`. */
export class OrganizationResource extends Resource {
  /**
   * The key's organization.
   *
   * `GET /v1/organization`, scope organization:read.
   * Errors: not_found.
   */
  get(options: RequestOptions = {}): Call<api.Organization> {
    const request = () => ({ method: "GET", path: "/v1/organization" });
    return this.transport.json(request, options);
  }

  /**
   * Its members.
   *
   * `GET /v1/organization/members`, scope organization:read.
   */
  members(params: api.ListMembersParams = {}, options: RequestOptions = {}): Pages<api.Member> {
    const request = () => ({ method: "GET", path: "/v1/organization/members", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * The organization's own policy.
   *
   * `GET /v1/organization/policy`, scope policies:read.
   */
  policy(options: RequestOptions = {}): Call<api.OrganizationPolicy> {
    const request = () => ({ method: "GET", path: "/v1/organization/policy" });
    return this.transport.json(request, options);
  }

  /**
   * Replace the organization's policy.
   *
   * `PUT /v1/organization/policy`, scope policies:write.
   * Errors: member_required, version_conflict, payload_too_large, unsupported_media_type.
   */
  replacePolicy(params: api.ReplaceOrganizationPolicy, options: RequestOptions = {}): Call<api.OrganizationPolicy> {
    const request = () => ({ method: "PUT", path: "/v1/organization/policy", body: fields(params) });
    return this.transport.json(request, options);
  }
}

/** `client.audit`. */
export class AuditResource extends Resource {
  /**
   * Who did what, oldest first.
   *
   * `GET /v1/audit`, scope audit:read.
   */
  list(params: api.ListAuditParams = {}, options: RequestOptions = {}): Pages<api.AuditEntry> {
    const request = () => ({ method: "GET", path: "/v1/audit", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "after", behind: (one) => one.seq }, options);
  }

  /**
   * The newest row of the audit log.
   *
   * `GET /v1/audit/head`, scope audit:read.
   */
  head(options: RequestOptions = {}): Call<api.AuditHead> {
    const request = () => ({ method: "GET", path: "/v1/audit/head" });
    return this.transport.json(request, options);
  }
}

/** `client.keys`. */
export class KeysResource extends Resource {
  /**
   * Mint an API key, shown once.
   *
   * `POST /v1/keys`, scope keys:write.
   * Errors: invalid_scopes, inbox_not_found, payload_too_large, unsupported_media_type.
   */
  create(params: api.CreateKey, options: RequestOptions = {}): Call<api.MintedKey> {
    const request = () => ({ method: "POST", path: "/v1/keys", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * API keys, newest first.
   *
   * `GET /v1/keys`, scope keys:read.
   */
  list(params: api.ListKeysParams = {}, options: RequestOptions = {}): Pages<api.Key> {
    const request = () => ({ method: "GET", path: "/v1/keys", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * Revoke a key at once.
   *
   * `DELETE /v1/keys/{id}`, scope keys:write.
   * Errors: key_not_found.
   */
  revoke(keyId: string, options: RequestOptions = {}): Call<api.Revoked> {
    const request = () => ({ method: "DELETE", path: `/v1/keys/${segment("keyId", keyId)}` });
    return this.transport.json(request, options);
  }

  /**
   * Revoke a key with all it minted and sent.
   *
   * `POST /v1/keys/{id}/revoke-with-mail`, scope keys:write.
   * Errors: key_not_found.
   */
  revokeWithMail(keyId: string, options: RequestOptions = {}): Call<api.RevokedWithMail> {
    const request = () => ({ method: "POST", path: `/v1/keys/${segment("keyId", keyId)}/revoke-with-mail` });
    return this.transport.json(request, options);
  }
}

/** `client.agents`. */
export class AgentsResource extends Resource {
  /**
   * Name an agent.
   *
   * `POST /v1/agents`, scope inboxes:write.
   * Errors: payload_too_large, unsupported_media_type.
   */
  create(params: api.CreateAgent, options: RequestOptions = {}): Call<api.Agent> {
    const request = () => ({ method: "POST", path: "/v1/agents", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Agents, newest first.
   *
   * `GET /v1/agents`, scope inboxes:read.
   */
  list(params: api.ListAgentsParams = {}, options: RequestOptions = {}): Pages<api.Agent> {
    const request = () => ({ method: "GET", path: "/v1/agents", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * One agent.
   *
   * `GET /v1/agents/{id}`, scope inboxes:read.
   * Errors: agent_not_found.
   */
  get(agentId: string, options: RequestOptions = {}): Call<api.Agent> {
    const request = () => ({ method: "GET", path: `/v1/agents/${segment("agentId", agentId)}` });
    return this.transport.json(request, options);
  }

  /**
   * Forget an agent.
   *
   * `DELETE /v1/agents/{id}`, scope inboxes:write.
   * Errors: agent_not_found.
   */
  delete(agentId: string, options: RequestOptions = {}): Call<api.Deleted> {
    const request = () => ({ method: "DELETE", path: `/v1/agents/${segment("agentId", agentId)}` });
    return this.transport.json(request, options);
  }
}

/** `client.inboxes`. */
export class InboxesResource extends Resource {
  /**
   * Provision an inbox.
   *
   * `POST /v1/inboxes`, scope inboxes:write.
   * Errors: domain_not_verified, limit_reached, inbox_access_denied, apex_domain_reserved, agent_not_found,
   * domain_not_found, address_already_exists, address_in_cooldown, payload_too_large, unsupported_media_type,
   * username_reserved.
   */
  create(params: api.CreateInbox, options: RequestOptions = {}): Call<api.Inbox> {
    const request = () => ({ method: "POST", path: "/v1/inboxes", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Inboxes, newest first.
   *
   * `GET /v1/inboxes`, scope inboxes:read.
   */
  list(params: api.ListInboxesParams = {}, options: RequestOptions = {}): Pages<api.Inbox> {
    const request = () => ({ method: "GET", path: "/v1/inboxes", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * One inbox.
   *
   * `GET /v1/inboxes/{id}`, scope inboxes:read.
   * Errors: inbox_access_denied, inbox_not_found.
   */
  get(inboxId: string, options: RequestOptions = {}): Call<api.GovernedInbox> {
    const request = () => ({ method: "GET", path: `/v1/inboxes/${segment("inboxId", inboxId)}` });
    return this.transport.json(request, options);
  }

  /**
   * Rename an inbox, set its metadata.
   *
   * `PATCH /v1/inboxes/{id}`, scope inboxes:write.
   * Errors: inbox_access_denied, inbox_not_found, payload_too_large, unsupported_media_type.
   */
  update(inboxId: string, params: api.PatchInbox = {}, options: RequestOptions = {}): Call<api.Inbox> {
    const request = () => ({
      method: "PATCH",
      path: `/v1/inboxes/${segment("inboxId", inboxId)}`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Deactivate an inbox.
   *
   * `DELETE /v1/inboxes/{id}`, scope inboxes:write.
   * Errors: inbox_access_denied, inbox_not_found.
   */
  delete(inboxId: string, options: RequestOptions = {}): Call<api.DeactivatedInbox> {
    const request = () => ({ method: "DELETE", path: `/v1/inboxes/${segment("inboxId", inboxId)}` });
    return this.transport.json(request, options);
  }

  /**
   * An inbox's own policy.
   *
   * `GET /v1/inboxes/{id}/policy`, scope policies:read.
   * Errors: inbox_access_denied, inbox_not_found.
   */
  policy(inboxId: string, options: RequestOptions = {}): Call<api.InboxPolicy> {
    const request = () => ({ method: "GET", path: `/v1/inboxes/${segment("inboxId", inboxId)}/policy` });
    return this.transport.json(request, options);
  }

  /**
   * Replace an inbox's policy.
   *
   * `PUT /v1/inboxes/{id}/policy`, scope policies:write.
   * Errors: inbox_access_denied, member_required, inbox_not_found, version_conflict, payload_too_large,
   * unsupported_media_type.
   */
  replacePolicy(inboxId: string, params: api.ReplaceInboxPolicy, options: RequestOptions = {}): Call<api.InboxPolicy> {
    const request = () => ({
      method: "PUT",
      path: `/v1/inboxes/${segment("inboxId", inboxId)}/policy`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }
}

/** `client.codes`. */
export class CodesResource extends Resource {
  /**
   * Take the code or the link of the next mail that has one.
   *
   * `POST /v1/inboxes/{id}/codes/claim`, scope messages:read.
   * Errors: inbox_access_denied, inbox_not_found, idempotency_conflict, payload_too_large,
   * unsupported_media_type, too_many_streams.
   */
  claim(inboxId: string, params: api.ClaimCode = {}, options: WriteOptions = {}): Call<api.ClaimedCode> {
    const request = () => ({
      method: "POST",
      path: `/v1/inboxes/${segment("inboxId", inboxId)}/codes/claim`,
      body: fields(params),
      takesIdempotencyKey: true,
      waitSeconds: fields(params).waitSeconds ?? 25,
    });
    return this.transport.json(request, options);
  }
}

/** `client.claims`. */
export class ClaimsResource extends Resource {
  /**
   * Take mail to work on it, the oldest first.
   *
   * `POST /v1/inboxes/{id}/claims`, scope messages:label, messages:read.
   * Errors: limit_reached, inbox_access_denied, inbox_not_found, idempotency_conflict, work_not_enabled,
   * payload_too_large, unsupported_media_type, too_many_streams.
   */
  take(inboxId: string, params: api.ClaimMessages = {}, options: WriteOptions = {}): Call<api.ClaimedMessage[]> {
    const request = () => ({
      method: "POST",
      path: `/v1/inboxes/${segment("inboxId", inboxId)}/claims`,
      body: fields(params),
      takesIdempotencyKey: true,
      waitSeconds: fields(params).waitSeconds ?? 25,
    });
    return this.transport.json(request, options);
  }

  /**
   * Claims, newest first.
   *
   * `GET /v1/claims`, scope messages:label.
   */
  list(params: api.ListClaimsParams = {}, options: RequestOptions = {}): Pages<api.WorkClaim> {
    const request = () => ({ method: "GET", path: "/v1/claims", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * Let a claim live longer.
   *
   * `POST /v1/claims/{id}/extend`, scope messages:label.
   * Errors: inbox_access_denied, claim_not_found, claim_lost, payload_too_large, unsupported_media_type.
   */
  extend(claimId: string, params: api.ExtendClaim = {}, options: RequestOptions = {}): Call<api.WorkClaim> {
    const request = () => ({
      method: "POST",
      path: `/v1/claims/${segment("claimId", claimId)}/extend`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Give a message back, to be claimed again.
   *
   * `POST /v1/claims/{id}/release`, scope messages:label.
   * Errors: inbox_access_denied, claim_not_found, claim_lost, payload_too_large, unsupported_media_type.
   */
  release(claimId: string, params: api.ReleaseClaim = {}, options: RequestOptions = {}): Call<api.WorkClaim> {
    const request = () => ({
      method: "POST",
      path: `/v1/claims/${segment("claimId", claimId)}/release`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Say that a message is done.
   *
   * `POST /v1/claims/{id}/done`, scope messages:label.
   * Errors: inbox_access_denied, claim_not_found, claim_lost, payload_too_large, unsupported_media_type.
   */
  finish(claimId: string, params: api.FinishClaim = {}, options: RequestOptions = {}): Call<api.WorkClaim> {
    const request = () => ({
      method: "POST",
      path: `/v1/claims/${segment("claimId", claimId)}/done`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }
}

/** `client.messages`. */
export class MessagesResource extends Resource {
  /**
   * Send a message, now or at a time.
   *
   * `POST /v1/messages/send`, scope messages:send.
   * Errors: domain_not_verified, attachments_unsupported, attachments_not_schedulable, spend_cap_reached,
   * limit_reached, inbox_access_denied, sending_not_approved, sandbox_bulk_not_allowed,
   * sending_paused_bulk_review, recipient_not_allowed, inbox_not_found, message_not_found, claim_not_found,
   * idempotency_conflict, loop_suspected, thread_advanced, claim_lost, claim_required, payload_too_large,
   * attachment_too_large, unsupported_media_type, recipient_suppressed, domain_daily_cap_reached,
   * email_delivery_failed.
   */
  send(params: api.SendMessage, options: WriteOptions = {}): Call<api.ListedMessage> {
    const request = () => ({
      method: "POST",
      path: "/v1/messages/send",
      body: fields(params),
      takesIdempotencyKey: true,
    });
    return this.transport.json(request, options);
  }

  /**
   * What would become of a message, without sending it.
   *
   * `POST /v1/messages/check`, scope messages:reply.
   * Errors: inbox_access_denied, inbox_not_found, message_not_found, attachment_not_found, draft_not_found,
   * payload_too_large, unsupported_media_type.
   */
  check(params: api.CheckMessage = {}, options: RequestOptions = {}): Call<api.CheckedMessage> {
    const request = () => ({ method: "POST", path: "/v1/messages/check", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Answer a message, or write a draft that does.
   *
   * `POST /v1/messages/{id}/reply`, scope messages:reply.
   * Errors: domain_not_verified, attachments_unsupported, attachments_not_schedulable, spend_cap_reached,
   * limit_reached, draft_limit_reached, inbox_access_denied, sending_not_approved, sandbox_bulk_not_allowed,
   * sending_paused_bulk_review, recipient_not_allowed, inbox_not_found, message_not_found, claim_not_found,
   * idempotency_conflict, loop_suspected, thread_advanced, claim_lost, claim_required, no_reply_target,
   * payload_too_large, attachment_too_large, unsupported_media_type, recipient_suppressed,
   * domain_daily_cap_reached, email_delivery_failed.
   */
  reply(messageId: string, params: api.ReplyMessage & { asDraft: true }, options?: WriteOptions): Call<api.DraftedReply>;
  reply(messageId: string, params?: api.ReplyMessage & { asDraft?: false }, options?: WriteOptions): Call<api.SentReply>;
  reply(messageId: string, params: api.ReplyMessage = {}, options: WriteOptions = {}): Call<api.SentReply | api.DraftedReply> {
    const request = () => ({
      method: "POST",
      path: `/v1/messages/${segment("messageId", messageId)}/reply`,
      body: fields(params),
      takesIdempotencyKey: true,
    });
    return this.transport.json(request, options);
  }

  /**
   * Pass a message on, in a new thread.
   *
   * `POST /v1/messages/{id}/forward`, scope messages:send.
   * Errors: domain_not_verified, attachments_unsupported, spend_cap_reached, limit_reached, inbox_access_denied,
   * sending_not_approved, sandbox_bulk_not_allowed, sending_paused_bulk_review, recipient_not_allowed,
   * inbox_not_found, message_not_found, attachment_not_found, idempotency_conflict, loop_suspected,
   * attachment_bytes_missing, payload_too_large, attachment_too_large, unsupported_media_type,
   * recipient_suppressed, domain_daily_cap_reached, email_delivery_failed.
   */
  forward(messageId: string, params: api.ForwardMessage, options: WriteOptions = {}): Call<api.ListedMessage> {
    const request = () => ({
      method: "POST",
      path: `/v1/messages/${segment("messageId", messageId)}/forward`,
      body: fields(params),
      takesIdempotencyKey: true,
    });
    return this.transport.json(request, options);
  }

  /**
   * Messages, newest first; search.
   *
   * `GET /v1/messages`, scope messages:read.
   */
  list(params: api.ListMessagesParams = {}, options: RequestOptions = {}): Pages<api.ListedMessage> {
    const request = () => ({ method: "GET", path: "/v1/messages", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * The next message that comes in and is as asked for.
   *
   * `GET /v1/messages/wait`, scope messages:read.
   * Errors: inbox_access_denied, inbox_not_found, thread_not_found, too_many_streams.
   */
  wait(params: api.WaitForMessageParams = {}, options: RequestOptions = {}): Call<api.AwaitedMessage> {
    const request = () => ({
      method: "GET",
      path: "/v1/messages/wait",
      query: fields(params),
      waitSeconds: fields(params).timeoutSeconds ?? 25,
    });
    return this.transport.json(request, options);
  }

  /**
   * One message with its bodies.
   *
   * `GET /v1/messages/{id}`, scope messages:read.
   * Errors: inbox_access_denied, message_not_found.
   */
  get(messageId: string, params: api.GetMessageParams = {}, options: RequestOptions = {}): Call<api.Message> {
    const request = () => ({
      method: "GET",
      path: `/v1/messages/${segment("messageId", messageId)}`,
      query: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Set or change a message's labels.
   *
   * `PATCH /v1/messages/{id}`, scope messages:label.
   * Errors: inbox_access_denied, message_not_found, payload_too_large, unsupported_media_type.
   */
  label(messageId: string, params: api.PatchMessage = {}, options: RequestOptions = {}): Call<api.Message> {
    const request = () => ({
      method: "PATCH",
      path: `/v1/messages/${segment("messageId", messageId)}`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Delete a message for good.
   *
   * `DELETE /v1/messages/{id}`, scope messages:send.
   * Errors: inbox_access_denied, message_not_found.
   */
  delete(messageId: string, options: RequestOptions = {}): Call<api.DeletedMessage> {
    const request = () => ({ method: "DELETE", path: `/v1/messages/${segment("messageId", messageId)}` });
    return this.transport.json(request, options);
  }

  /**
   * Change the labels of many messages, or delete them.
   *
   * `POST /v1/messages/batch`, scope messages:label.
   * Errors: payload_too_large, unsupported_media_type.
   */
  changeMany(params: api.ChangeMessages = {}, options: RequestOptions = {}): Call<api.ChangedMessage[]> {
    const request = () => ({ method: "POST", path: "/v1/messages/batch", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Offer a message to claims again.
   *
   * `POST /v1/messages/{id}/requeue`, scope messages:label.
   * Errors: inbox_access_denied, inbox_not_found, message_not_found, work_not_enabled.
   */
  requeue(messageId: string, options: RequestOptions = {}): Call<api.Message> {
    const request = () => ({ method: "POST", path: `/v1/messages/${segment("messageId", messageId)}/requeue` });
    return this.transport.json(request, options);
  }

  /**
   * Cancel a scheduled message.
   *
   * `DELETE /v1/messages/{id}/schedule`, scope messages:send.
   * Errors: inbox_access_denied, message_not_found, not_scheduled.
   */
  cancel(messageId: string, options: RequestOptions = {}): Call<api.CancelledMessage> {
    const request = () => ({
      method: "DELETE",
      path: `/v1/messages/${segment("messageId", messageId)}/schedule`,
    });
    return this.transport.json(request, options);
  }

  /**
   * Take a held message back.
   *
   * `POST /v1/messages/{id}/withdraw`, scope messages:reply.
   * Errors: inbox_access_denied, message_not_found, not_held.
   */
  withdraw(messageId: string, options: RequestOptions = {}): Call<api.CancelledMessage> {
    const request = () => ({
      method: "POST",
      path: `/v1/messages/${segment("messageId", messageId)}/withdraw`,
    });
    return this.transport.json(request, options);
  }

  /**
   * A message's RFC 5322 bytes.
   *
   * `GET /v1/messages/{id}/raw`, scope messages:read.
   * Errors: inbox_access_denied, message_not_found, attachment_bytes_missing, range_not_satisfiable.
   */
  raw(messageId: string, params: api.GetRawMessageParams = {}, options: RequestOptions = {}): Call<Octets> {
    const request = () => {
      const { range, ifRange, ifNoneMatch, ...query } = fields(params);
      return {
        method: "GET",
        path: `/v1/messages/${segment("messageId", messageId)}/raw`,
        query,
        headers: { "Range": range, "If-Range": ifRange, "If-None-Match": ifNoneMatch },
      };
    };
    return this.transport.bytes(request, options);
  }

  /**
   * What in a message may be an attack on its reader.
   *
   * `GET /v1/messages/{id}/evidence`, scope messages:read.
   * Errors: inbox_access_denied, message_not_found.
   */
  evidence(messageId: string, options: RequestOptions = {}): Call<api.MessageEvidence> {
    const request = () => ({ method: "GET", path: `/v1/messages/${segment("messageId", messageId)}/evidence` });
    return this.transport.json(request, options);
  }

  /**
   * Attempts to deliver an outbound message.
   *
   * `GET /v1/messages/{id}/attempts`, scope messages:read.
   * Errors: inbox_access_denied, message_not_found.
   */
  attempts(messageId: string, options: RequestOptions = {}): Call<api.DeliveryAttempt[]> {
    const request = () => ({ method: "GET", path: `/v1/messages/${segment("messageId", messageId)}/attempts` });
    return this.transport.json(request, options);
  }
}

/** `client.reviews`. */
export class ReviewsResource extends Resource {
  /**
   * What is held, and what was decided, newest first.
   *
   * `GET /v1/reviews`, scope reviews:read.
   */
  list(params: api.ListReviewsParams = {}, options: RequestOptions = {}): Pages<api.Review> {
    const request = () => ({ method: "GET", path: "/v1/reviews", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * One review, with what is decided about.
   *
   * `GET /v1/reviews/{id}`, scope reviews:read.
   * Errors: review_not_found.
   */
  get(reviewId: string, options: RequestOptions = {}): Call<api.WholeReview> {
    const request = () => ({ method: "GET", path: `/v1/reviews/${segment("reviewId", reviewId)}` });
    return this.transport.json(request, options);
  }

  /**
   * Let what is held go, now or at its time.
   *
   * `POST /v1/reviews/{id}/approve`, scope reviews:write.
   * Errors: domain_not_verified, attachments_unsupported, spend_cap_reached, limit_reached, inbox_access_denied,
   * sending_not_approved, sandbox_bulk_not_allowed, sending_paused_bulk_review, recipient_not_allowed,
   * self_approval, member_required, inbox_not_found, review_not_found, message_not_found, loop_suspected,
   * thread_advanced, review_resolved, content_changed, payload_too_large, attachment_too_large,
   * unsupported_media_type, recipient_suppressed, domain_daily_cap_reached, email_delivery_failed.
   */
  approve(reviewId: string, params: api.ApproveReview, options: RequestOptions = {}): Call<api.Review> {
    const request = () => ({
      method: "POST",
      path: `/v1/reviews/${segment("reviewId", reviewId)}/approve`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Turn down what is held.
   *
   * `POST /v1/reviews/{id}/reject`, scope reviews:write.
   * Errors: self_approval, member_required, review_not_found, review_resolved, payload_too_large,
   * unsupported_media_type.
   */
  reject(reviewId: string, params: api.RejectReview = {}, options: RequestOptions = {}): Call<api.Review> {
    const request = () => ({
      method: "POST",
      path: `/v1/reviews/${segment("reviewId", reviewId)}/reject`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }
}

/** `client.threads`. */
export class ThreadsResource extends Resource {
  /**
   * Threads, latest first.
   *
   * `GET /v1/threads`, scope threads:read.
   */
  list(params: api.ListThreadsParams = {}, options: RequestOptions = {}): Pages<api.Thread> {
    const request = () => ({ method: "GET", path: "/v1/threads", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => `${one.id}@${one.lastMessageAt}` }, options);
  }

  /**
   * One thread with its messages.
   *
   * `GET /v1/threads/{id}`, scope threads:read.
   * Errors: inbox_access_denied, thread_not_found.
   */
  get(threadId: string, params: api.GetThreadParams = {}, options: RequestOptions = {}): Call<api.WholeThread> {
    const request = () => ({
      method: "GET",
      path: `/v1/threads/${segment("threadId", threadId)}`,
      query: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Archive or unarchive a thread.
   *
   * `PATCH /v1/threads/{id}`, scope messages:label.
   * Errors: inbox_access_denied, thread_not_found, payload_too_large, unsupported_media_type.
   */
  update(threadId: string, params: api.PatchThread, options: RequestOptions = {}): Call<api.Thread> {
    const request = () => ({
      method: "PATCH",
      path: `/v1/threads/${segment("threadId", threadId)}`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * A thread as text for a model, within a budget.
   *
   * `GET /v1/threads/{id}/context`, scope threads:read, messages:read.
   * Errors: inbox_access_denied, thread_not_found.
   */
  context(threadId: string, params: api.GetThreadContextParams = {}, options: RequestOptions = {}): Call<api.ThreadContext> {
    const request = () => {
      const { ifNoneMatch, ...query } = fields(params);
      return {
        method: "GET",
        path: `/v1/threads/${segment("threadId", threadId)}/context`,
        query,
        headers: { "If-None-Match": ifNoneMatch },
      };
    };
    return this.transport.json(request, options);
  }

  /**
   * Answer the newest message that came in.
   *
   * `POST /v1/threads/{id}/reply`, scope messages:reply.
   * Errors: domain_not_verified, attachments_unsupported, attachments_not_schedulable, spend_cap_reached,
   * limit_reached, draft_limit_reached, inbox_access_denied, sending_not_approved, sandbox_bulk_not_allowed,
   * sending_paused_bulk_review, recipient_not_allowed, inbox_not_found, message_not_found, thread_not_found,
   * claim_not_found, idempotency_conflict, loop_suspected, thread_advanced, claim_lost, claim_required,
   * no_reply_target, payload_too_large, attachment_too_large, unsupported_media_type, recipient_suppressed,
   * domain_daily_cap_reached, email_delivery_failed.
   */
  reply(threadId: string, params: api.ReplyThread & { asDraft: true }, options?: WriteOptions): Call<api.DraftedReply>;
  reply(threadId: string, params: api.ReplyThread & { asDraft?: false }, options?: WriteOptions): Call<api.SentReply>;
  reply(threadId: string, params: api.ReplyThread, options: WriteOptions = {}): Call<api.SentReply | api.DraftedReply> {
    const request = () => ({
      method: "POST",
      path: `/v1/threads/${segment("threadId", threadId)}/reply`,
      body: fields(params),
      takesIdempotencyKey: true,
    });
    return this.transport.json(request, options);
  }
}

/** `client.attachments`. */
export class AttachmentsResource extends Resource {
  /**
   * An attachment's bytes.
   *
   * `GET /v1/attachments/{id}`, scope messages:read.
   * Errors: inbox_access_denied, attachment_not_found, attachment_bytes_missing, range_not_satisfiable.
   */
  download(attachmentId: string, params: api.GetAttachmentParams = {}, options: RequestOptions = {}): Call<Octets> {
    const request = () => {
      const { range, ifRange, ifNoneMatch, ...query } = fields(params);
      return {
        method: "GET",
        path: `/v1/attachments/${segment("attachmentId", attachmentId)}`,
        query,
        headers: { "Range": range, "If-Range": ifRange, "If-None-Match": ifNoneMatch },
      };
    };
    return this.transport.bytes(request, options);
  }
}

/** `client.drafts`. */
export class DraftsResource extends Resource {
  /**
   * Write a draft.
   *
   * `POST /v1/drafts`, scope messages:send.
   * Errors: draft_limit_reached, inbox_access_denied, inbox_not_found, message_not_found, idempotency_conflict,
   * payload_too_large, unsupported_media_type.
   */
  create(params: api.CreateDraft, options: WriteOptions = {}): Call<api.Draft> {
    const request = () => ({
      method: "POST",
      path: "/v1/drafts",
      body: fields(params),
      takesIdempotencyKey: true,
    });
    return this.transport.json(request, options);
  }

  /**
   * Drafts, newest first.
   *
   * `GET /v1/drafts`, scope messages:send.
   */
  list(params: api.ListDraftsParams = {}, options: RequestOptions = {}): Pages<api.Draft> {
    const request = () => ({ method: "GET", path: "/v1/drafts", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * One draft.
   *
   * `GET /v1/drafts/{id}`, scope messages:send.
   * Errors: inbox_access_denied, draft_not_found.
   */
  get(draftId: string, options: RequestOptions = {}): Call<api.Draft> {
    const request = () => ({ method: "GET", path: `/v1/drafts/${segment("draftId", draftId)}` });
    return this.transport.json(request, options);
  }

  /**
   * Change what is given.
   *
   * `PATCH /v1/drafts/{id}`, scope messages:send.
   * Errors: inbox_access_denied, message_not_found, draft_not_found, draft_not_editable, payload_too_large,
   * unsupported_media_type.
   */
  update(draftId: string, params: api.PatchDraft = {}, options: RequestOptions = {}): Call<api.Draft> {
    const request = () => ({
      method: "PATCH",
      path: `/v1/drafts/${segment("draftId", draftId)}`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Discard a draft.
   *
   * `DELETE /v1/drafts/{id}`, scope messages:send.
   * Errors: inbox_access_denied, draft_not_found, draft_already_sent.
   */
  discard(draftId: string, options: RequestOptions = {}): Call<api.Draft> {
    const request = () => ({ method: "DELETE", path: `/v1/drafts/${segment("draftId", draftId)}` });
    return this.transport.json(request, options);
  }

  /**
   * Send a draft; a sent one answers its message.
   *
   * `POST /v1/drafts/{id}/send`, scope messages:send.
   * Errors: domain_not_verified, attachments_unsupported, draft_incomplete, spend_cap_reached, limit_reached,
   * inbox_access_denied, sending_not_approved, sandbox_bulk_not_allowed, sending_paused_bulk_review,
   * recipient_not_allowed, inbox_not_found, message_not_found, claim_not_found, draft_not_found, loop_suspected,
   * thread_advanced, claim_lost, claim_required, draft_discarded, payload_too_large, attachment_too_large,
   * recipient_suppressed, domain_daily_cap_reached, email_delivery_failed.
   */
  send(draftId: string, options: RequestOptions = {}): Call<api.ListedMessage> {
    const request = () => ({ method: "POST", path: `/v1/drafts/${segment("draftId", draftId)}/send` });
    return this.transport.json(request, options);
  }
}

/** `client.domains`. */
export class DomainsResource extends Resource {
  /**
   * Register a custom domain.
   *
   * `POST /v1/domains`, scope domains:write.
   * Errors: limit_reached, apex_domain_reserved, domain_already_registered, payload_too_large,
   * unsupported_media_type.
   */
  register(params: api.RegisterDomain, options: RequestOptions = {}): Call<api.Domain> {
    const request = () => ({ method: "POST", path: "/v1/domains", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Domains, newest first.
   *
   * `GET /v1/domains`, scope domains:read.
   */
  list(options: RequestOptions = {}): Call<api.Domain[]> {
    const request = () => ({ method: "GET", path: "/v1/domains" });
    return this.transport.json(request, options);
  }

  /**
   * One domain with its records.
   *
   * `GET /v1/domains/{id}`, scope domains:read.
   * Errors: domain_not_found.
   */
  get(domainId: string, options: RequestOptions = {}): Call<api.Domain> {
    const request = () => ({ method: "GET", path: `/v1/domains/${segment("domainId", domainId)}` });
    return this.transport.json(request, options);
  }

  /**
   * Set the daily ceiling.
   *
   * `PATCH /v1/domains/{id}`, scope domains:write.
   * Errors: domain_not_found, payload_too_large, unsupported_media_type.
   */
  update(domainId: string, params: api.PatchDomain, options: RequestOptions = {}): Call<api.DomainCeiling> {
    const request = () => ({
      method: "PATCH",
      path: `/v1/domains/${segment("domainId", domainId)}`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Delete a domain.
   *
   * `DELETE /v1/domains/{id}`, scope domains:write.
   * Errors: domain_not_found.
   */
  delete(domainId: string, options: RequestOptions = {}): Call<api.Deleted> {
    const request = () => ({ method: "DELETE", path: `/v1/domains/${segment("domainId", domainId)}` });
    return this.transport.json(request, options);
  }

  /**
   * What other hosts report about it, newest first.
   *
   * `GET /v1/domains/{id}/reports`, scope domains:read.
   * Errors: domain_not_found.
   */
  reports(domainId: string, params: api.ListDomainReportsParams = {}, options: RequestOptions = {}): Pages<api.AggregateReport> {
    const request = () => ({
      method: "GET",
      path: `/v1/domains/${segment("domainId", domainId)}/reports`,
      query: fields(params),
    });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * Check the DNS now.
   *
   * `POST /v1/domains/{id}/verify`, scope domains:write.
   * Errors: domain_not_found, domain_already_registered.
   */
  verify(domainId: string, options: RequestOptions = {}): Call<api.DomainVerification> {
    const request = () => ({ method: "POST", path: `/v1/domains/${segment("domainId", domainId)}/verify` });
    return this.transport.json(request, options);
  }

  /**
   * Prepare a new DKIM key.
   *
   * `POST /v1/domains/{id}/rotate-dkim`, scope domains:write.
   * Errors: domain_not_verified, domain_not_found.
   */
  rotateDkim(domainId: string, options: RequestOptions = {}): Call<api.Domain> {
    const request = () => ({
      method: "POST",
      path: `/v1/domains/${segment("domainId", domainId)}/rotate-dkim`,
    });
    return this.transport.json(request, options);
  }
}

/** `client.suppressions`. */
export class SuppressionsResource extends Resource {
  /**
   * Suppress an address.
   *
   * `POST /v1/suppressions`, scope suppressions:write.
   * Errors: payload_too_large, unsupported_media_type.
   */
  create(params: api.CreateSuppression, options: RequestOptions = {}): Call<api.Suppression> {
    const request = () => ({ method: "POST", path: "/v1/suppressions", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Suppressed addresses.
   *
   * `GET /v1/suppressions`, scope suppressions:read.
   */
  list(params: api.ListSuppressionsParams = {}, options: RequestOptions = {}): Pages<api.Suppression> {
    const request = () => ({ method: "GET", path: "/v1/suppressions", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * Lift a suppression.
   *
   * `DELETE /v1/suppressions/{id}`, scope suppressions:write.
   * Errors: suppression_not_found.
   */
  delete(suppressionId: string, options: RequestOptions = {}): Call<api.Deleted> {
    const request = () => ({
      method: "DELETE",
      path: `/v1/suppressions/${segment("suppressionId", suppressionId)}`,
    });
    return this.transport.json(request, options);
  }
}

/** `client.rules`. */
export class RulesResource extends Resource {
  /**
   * Say who may be written to, or may write.
   *
   * `POST /v1/rules`, scope policies:write.
   * Errors: limit_reached, member_required, inbox_not_found, idempotency_conflict, payload_too_large,
   * unsupported_media_type.
   */
  create(params: api.CreateRule, options: WriteOptions = {}): Call<api.MailRule> {
    const request = () => ({
      method: "POST",
      path: "/v1/rules",
      body: fields(params),
      takesIdempotencyKey: true,
    });
    return this.transport.json(request, options);
  }

  /**
   * Rules, newest first.
   *
   * `GET /v1/rules`, scope policies:read.
   */
  list(params: api.ListRulesParams = {}, options: RequestOptions = {}): Pages<api.MailRule> {
    const request = () => ({ method: "GET", path: "/v1/rules", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * Delete a rule.
   *
   * `DELETE /v1/rules/{id}`, scope policies:write.
   * Errors: member_required, rule_not_found.
   */
  delete(ruleId: string, options: RequestOptions = {}): Call<api.DeletedRule> {
    const request = () => ({ method: "DELETE", path: `/v1/rules/${segment("ruleId", ruleId)}` });
    return this.transport.json(request, options);
  }
}

/** `client.unsubscribe`. */
export class UnsubscribeResource extends Resource {
  /**
   * The page behind an unsubscribe link; changes nothing.
   *
   * `GET /v1/unsubscribe`.
   * Errors: missing_token, invalid_or_expired_token.
   */
  page(params: api.ShowUnsubscribeParams = {}, options: RequestOptions = {}): Call<Octets> {
    const request = () => ({ method: "GET", path: "/v1/unsubscribe", query: fields(params), isPublic: true });
    return this.transport.bytes(request, options);
  }

  /**
   * Take the link's address off the list (RFC 8058).
   *
   * `POST /v1/unsubscribe`.
   * Errors: missing_token, invalid_or_expired_token, payload_too_large.
   */
  confirm(params: api.UnsubscribeParams = {}, options: RequestOptions = {}): Call<api.Unsubscribed> {
    const request = () => ({
      method: "POST",
      path: "/v1/unsubscribe",
      query: fields(params),
      form: {"List-Unsubscribe": "One-Click"},
      headers: { Accept: "application/json" },
      isPublic: true,
    });
    return this.transport.json(request, options);
  }
}

/** `client.analytics`. */
export class AnalyticsResource extends Resource {
  /**
   * Figures of a window.
   *
   * `GET /v1/analytics/summary`, scope messages:read.
   */
  summary(params: api.GetSummaryParams = {}, options: RequestOptions = {}): Call<api.AnalyticsSummary> {
    const request = () => ({ method: "GET", path: "/v1/analytics/summary", query: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Events by period.
   *
   * `GET /v1/analytics/events`, scope messages:read.
   */
  events(params: api.GetEventSeriesParams = {}, options: RequestOptions = {}): Call<api.AnalyticsSeries> {
    const request = () => ({ method: "GET", path: "/v1/analytics/events", query: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Figures by recipient domain.
   *
   * `GET /v1/analytics/destinations`, scope messages:read.
   */
  destinations(params: api.ListDestinationsParams = {}, options: RequestOptions = {}): Call<api.AnalyticsDestination[]> {
    const request = () => ({ method: "GET", path: "/v1/analytics/destinations", query: fields(params) });
    return this.transport.json(request, options);
  }
}

/** `client.events`. */
export class EventsResource extends Resource {
  /**
   * The event log, oldest first.
   *
   * `GET /v1/events`, scope messages:read.
   */
  list(params: api.ListEventsParams = {}, options: RequestOptions = {}): Pages<api.Event> {
    const request = () => ({ method: "GET", path: "/v1/events", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "after", behind: (one) => one.id }, options);
  }
}

/** `client.webhooks`. */
export class WebhooksResource extends Resource {
  /**
   * Register a webhook; its secret is shown once.
   *
   * `POST /v1/webhooks`, scope webhooks:write.
   * Errors: webhook_limit_reached, payload_too_large, unsupported_media_type.
   */
  create(params: api.CreateWebhook, options: RequestOptions = {}): Call<api.WebhookWithSecret> {
    const request = () => ({ method: "POST", path: "/v1/webhooks", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Webhooks, newest first.
   *
   * `GET /v1/webhooks`, scope webhooks:read.
   */
  list(options: RequestOptions = {}): Call<api.Webhook[]> {
    const request = () => ({ method: "GET", path: "/v1/webhooks" });
    return this.transport.json(request, options);
  }

  /**
   * Attempts to deliver events, newest first.
   *
   * `GET /v1/webhooks/deliveries`, scope webhooks:read.
   */
  deliveries(params: api.ListDeliveriesParams = {}, options: RequestOptions = {}): Pages<api.WebhookDelivery> {
    const request = () => ({ method: "GET", path: "/v1/webhooks/deliveries", query: fields(params) });
    return new Pages(this.transport, request, { parameter: "cursor", behind: (one) => one.id }, options);
  }

  /**
   * Make the next attempt of a delivery now.
   *
   * `POST /v1/webhooks/deliveries/{id}/redeliver`, scope webhooks:write.
   * Errors: webhook_not_found, delivery_not_found, webhook_inactive, delivery_in_flight, event_not_kept.
   */
  redeliver(deliveryId: string, options: RequestOptions = {}): Call<api.WebhookDelivery> {
    const request = () => ({
      method: "POST",
      path: `/v1/webhooks/deliveries/${segment("deliveryId", deliveryId)}/redeliver`,
    });
    return this.transport.json(request, options);
  }

  /**
   * One webhook.
   *
   * `GET /v1/webhooks/{id}`, scope webhooks:read.
   * Errors: webhook_not_found.
   */
  get(webhookId: string, options: RequestOptions = {}): Call<api.Webhook> {
    const request = () => ({ method: "GET", path: `/v1/webhooks/${segment("webhookId", webhookId)}` });
    return this.transport.json(request, options);
  }

  /**
   * Change a webhook.
   *
   * `PATCH /v1/webhooks/{id}`, scope webhooks:write.
   * Errors: webhook_not_found, payload_too_large, unsupported_media_type.
   */
  update(webhookId: string, params: api.UpdateWebhook = {}, options: RequestOptions = {}): Call<api.Webhook> {
    const request = () => ({
      method: "PATCH",
      path: `/v1/webhooks/${segment("webhookId", webhookId)}`,
      body: fields(params),
    });
    return this.transport.json(request, options);
  }

  /**
   * Delete a webhook.
   *
   * `DELETE /v1/webhooks/{id}`, scope webhooks:write.
   * Errors: webhook_not_found.
   */
  delete(webhookId: string, options: RequestOptions = {}): Call<api.Deleted> {
    const request = () => ({ method: "DELETE", path: `/v1/webhooks/${segment("webhookId", webhookId)}` });
    return this.transport.json(request, options);
  }

  /**
   * A new signing secret, shown once.
   *
   * `POST /v1/webhooks/{id}/rotate-secret`, scope webhooks:write.
   * Errors: webhook_not_found.
   */
  rotateSecret(webhookId: string, options: RequestOptions = {}): Call<api.WebhookWithSecret> {
    const request = () => ({
      method: "POST",
      path: `/v1/webhooks/${segment("webhookId", webhookId)}/rotate-secret`,
    });
    return this.transport.json(request, options);
  }

  /**
   * Send a test ping now.
   *
   * `POST /v1/webhooks/{id}/test`, scope webhooks:write.
   * Errors: webhook_not_found.
   */
  test(webhookId: string, options: RequestOptions = {}): Call<api.WebhookDelivery> {
    const request = () => ({ method: "POST", path: `/v1/webhooks/${segment("webhookId", webhookId)}/test` });
    return this.transport.json(request, options);
  }
}

/** `client.queue`. */
export class QueueResource extends Resource {
  /**
   * What waits on this host, and where most.
   *
   * `GET /v1/operator/queue`, scope operator:queue.
   */
  show(options: RequestOptions = {}): Call<api.QueueState> {
    const request = () => ({ method: "GET", path: "/v1/operator/queue" });
    return this.transport.json(request, options);
  }

  /**
   * Who waits: held ones first, then by their time.
   *
   * `GET /v1/operator/queue/recipients`, scope operator:queue.
   */
  list(params: api.ListQueueParams = {}, options: RequestOptions = {}): Call<api.QueuedRecipient[]> {
    const request = () => ({ method: "GET", path: "/v1/operator/queue/recipients", query: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Let nothing in and nothing out.
   *
   * `POST /v1/operator/queue/pause`, scope operator:queue.
   */
  pause(options: RequestOptions = {}): Call<api.QueueState> {
    const request = () => ({ method: "POST", path: "/v1/operator/queue/pause" });
    return this.transport.json(request, options);
  }

  /**
   * Let the queue go on.
   *
   * `POST /v1/operator/queue/resume`, scope operator:queue.
   */
  resume(options: RequestOptions = {}): Call<api.QueueState> {
    const request = () => ({ method: "POST", path: "/v1/operator/queue/resume" });
    return this.transport.json(request, options);
  }

  /**
   * Try what waits now.
   *
   * `POST /v1/operator/queue/retry`, scope operator:queue.
   * Errors: payload_too_large, unsupported_media_type.
   */
  retry(params: api.ChangeQueue = {}, options: RequestOptions = {}): Call<api.QueueChanged> {
    const request = () => ({ method: "POST", path: "/v1/operator/queue/retry", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Hold what waits until it is released.
   *
   * `POST /v1/operator/queue/hold`, scope operator:queue.
   * Errors: payload_too_large, unsupported_media_type.
   */
  hold(params: api.ChangeQueue = {}, options: RequestOptions = {}): Call<api.QueueChanged> {
    const request = () => ({ method: "POST", path: "/v1/operator/queue/hold", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Let what is held go on, now.
   *
   * `POST /v1/operator/queue/release`, scope operator:queue.
   * Errors: payload_too_large, unsupported_media_type.
   */
  release(params: api.ChangeQueue = {}, options: RequestOptions = {}): Call<api.QueueChanged> {
    const request = () => ({ method: "POST", path: "/v1/operator/queue/release", body: fields(params) });
    return this.transport.json(request, options);
  }

  /**
   * Fail what waits, for good.
   *
   * `POST /v1/operator/queue/drop`, scope operator:queue.
   * Errors: payload_too_large, unsupported_media_type.
   */
  drop(params: api.ChangeQueue = {}, options: RequestOptions = {}): Call<api.QueueChanged> {
    const request = () => ({ method: "POST", path: "/v1/operator/queue/drop", body: fields(params) });
    return this.transport.json(request, options);
  }
}

/** `client.health`. */
export class HealthResource extends Resource {
  /**
   * Is the service up?
   *
   * `GET /health`.
   */
  get(options: RequestOptions = {}): Call<api.Health> {
    const request = () => ({ method: "GET", path: "/health", isPublic: true });
    return this.transport.json(request, options);
  }
}

/**
 * All resources.
 *
 * Any call with a key may also refuse with expectation_failed, insufficient_scope, internal_error,
 * invalid_api_key, invalid_api_key_format, provider_unavailable, rate_limit_exceeded, unauthorized,
 * validation_failed.
 */
export class Resources {
  readonly organization: OrganizationResource;
  readonly audit: AuditResource;
  readonly keys: KeysResource;
  readonly agents: AgentsResource;
  readonly inboxes: InboxesResource;
  readonly codes: CodesResource;
  readonly claims: ClaimsResource;
  readonly messages: MessagesResource;
  readonly reviews: ReviewsResource;
  readonly threads: ThreadsResource;
  readonly attachments: AttachmentsResource;
  readonly drafts: DraftsResource;
  readonly domains: DomainsResource;
  readonly suppressions: SuppressionsResource;
  readonly rules: RulesResource;
  readonly unsubscribe: UnsubscribeResource;
  readonly analytics: AnalyticsResource;
  readonly events: EventsResource;
  readonly webhooks: WebhooksResource;
  readonly queue: QueueResource;
  readonly health: HealthResource;

  constructor(transport: Transport) {
    this.organization = new OrganizationResource(transport);
    this.audit = new AuditResource(transport);
    this.keys = new KeysResource(transport);
    this.agents = new AgentsResource(transport);
    this.inboxes = new InboxesResource(transport);
    this.codes = new CodesResource(transport);
    this.claims = new ClaimsResource(transport);
    this.messages = new MessagesResource(transport);
    this.reviews = new ReviewsResource(transport);
    this.threads = new ThreadsResource(transport);
    this.attachments = new AttachmentsResource(transport);
    this.drafts = new DraftsResource(transport);
    this.domains = new DomainsResource(transport);
    this.suppressions = new SuppressionsResource(transport);
    this.rules = new RulesResource(transport);
    this.unsubscribe = new UnsubscribeResource(transport);
    this.analytics = new AnalyticsResource(transport);
    this.events = new EventsResource(transport);
    this.webhooks = new WebhooksResource(transport);
    this.queue = new QueueResource(transport);
    this.health = new HealthResource(transport);
  }
}
