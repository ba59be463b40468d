// How three programs of Node's world see mail. In: {"files": {name: path}, "record": {"name", "value"}};
// out: {name: {"postal-mime": …, "mailparser": …, "dkim": "pass"}}, contents as SHA-256.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { simpleParser } from 'mailparser'
import PostalMime from 'postal-mime'

const { files, record } = JSON.parse(readFileSync(0, 'utf8'))
const sha256 = (octets) => createHash('sha256').update(Buffer.from(octets)).digest('hex')
const file = (name, type, octets) => ({ filename: name, contentType: type, sha256: sha256(octets) })

async function postalMime(raw) {
  const mail = await PostalMime.parse(raw)
  return {
    subject: mail.subject,
    from: [mail.from.name, mail.from.address],
    to: mail.to.map((one) => one.address),
    text: mail.text ?? null,
    html: mail.html ?? null,
    attachments: mail.attachments.map((one) => file(one.filename, one.mimeType, one.content)),
  }
}

async function mailparser(raw) {
  const mail = await simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true, skipTextLinks: true })
  return {
    subject: mail.subject,
    from: [mail.from.value[0].name, mail.from.value[0].address],
    to: mail.to.value.map((one) => one.address),
    text: mail.text ?? null,
    html: mail.html || null,
    attachments: mail.attachments.map((one) => file(one.filename, one.contentType, one.content)),
  }
}

async function resolver(name, type) {
  if (name === record.name && type === 'TXT') return [[record.value]]
  throw Object.assign(new Error(`${type} ${name}`), { code: 'ENOTFOUND' })
}

const seen = {}
for (const [name, path] of Object.entries(files)) {
  const raw = readFileSync(path)
  const { results } = await dkimVerify(raw, { resolver })
  seen[name] = {
    'postal-mime': await postalMime(raw),
    mailparser: await mailparser(raw),
    dkim: results.map((one) => one.status.result).join(),
  }
}
process.stdout.write(JSON.stringify(seen))
