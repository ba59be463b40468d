// nodemailer submits mail. In: {"ports": [STARTTLS, TLS first], "user", "pass", "ca": PEM, "name", "mail", "wrong"};
// out: {"starttls": reply, "tls": reply, "pooled": [replies], "wrong": code}.
import { readFileSync } from 'node:fs'
import nodemailer from 'nodemailer'

const { ports, user, pass, ca, name, mail, wrong } = JSON.parse(readFileSync(0, 'utf8'))
const way = (port, more, password = pass) =>
  nodemailer.createTransport({
    host: '127.0.0.1', port, auth: { user, pass: password }, tls: { ca, servername: name }, ...more,
  })
const reply = async (transport, content) => (await transport.sendMail(content)).response

const starttls = await reply(way(ports[0], { requireTLS: true }), mail)
const tls = await reply(way(ports[1], { secure: true, authMethod: 'LOGIN' }), { ...mail, subject: 'again' })
const pool = way(ports[1], { secure: true, pool: true, maxConnections: 2 })
const pooled = await Promise.all([1, 2, 3, 4, 5].map((n) => reply(pool, { from: user, to: mail.to, text: `${n}` })))
pool.close()
const refused = await reply(way(ports[1], { secure: true }, wrong), mail).catch((error) => error.responseCode)
console.log(JSON.stringify({ starttls, tls, pooled, wrong: refused }))
