/** A key and a self-signed certificate that has expired, generated on demand, so that no key is in the repository. */
import { generateKeyPairSync, sign } from 'node:crypto'

/** Returns a new key and its certificate as PEM texts. */
export function expiredCertificate(): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, der(OID, COMMON_NAME), der(UTF8, Buffer.from('localhost')))))
  const algorithm = der(SEQUENCE, der(OID, ECDSA_WITH_SHA256))
  const from = der(UTC_TIME, Buffer.from('200101000000Z'))
  const until = der(UTC_TIME, Buffer.from('200102000000Z'))
  const body = der(
    SEQUENCE,
    der(INTEGER, Buffer.from([1])),
    algorithm,
    name,
    der(SEQUENCE, from, until),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', body, privateKey))
  const lines =
    der(SEQUENCE, body, algorithm, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}

const [INTEGER, BIT_STRING, OID, UTF8, UTC_TIME, SEQUENCE, SET] = [0x02, 0x03, 0x06, 0x0c, 0x17, 0x30, 0x31] as const
const COMMON_NAME = Buffer.from('550403', 'hex')
const ECDSA_WITH_SHA256 = Buffer.from('2a8648ce3d040302', 'hex')

/** Returns a DER value: tag, length and contents (X.690). */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const length =
    content.length < 128
      ? [content.length]
      : content.length < 256
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}
