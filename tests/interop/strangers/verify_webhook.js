// Verifies one request with the stock library. In: {"secret", "body", "headers"}; out: {"event"} or {"refused"}.
import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'

const { secret, body, headers } = JSON.parse(readFileSync(0, 'utf8'))
let answer
try {
  answer = { event: new Webhook(secret).verify(body, headers) }
} catch (error) {
  answer = { refused: error.message }
}
process.stdout.write(JSON.stringify(answer))
