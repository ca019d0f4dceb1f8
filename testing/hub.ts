/** Test double: a Hub on this machine, with the paths and shapes that a download of tokenizer files meets. */
import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TestRepository {
  /** By their path. */
  readonly files: Readonly<Record<string, string | Buffer>>
  /** Status of every answer about it, in place of the files. */
  readonly refused?: number
  /** Files are given with this status in place of their content: a gated model whose facts are public. */
  readonly filesRefused?: number
  /** Files are kept as LFS objects are: with their SHA-256. */
  readonly isLfs?: boolean
  /** Bytes that are listed for a file, in place of its own. */
  readonly sizes?: Readonly<Record<string, number>>
  /** Waited between two parts of a file. */
  readonly pause?: () => Promise<unknown>
  /** Only in this file. */
  readonly pauseIn?: string
  /** Ends the connection in the middle of this file. */
  readonly cut?: string
  /** Sends other bytes than it lists, of the same length. */
  readonly spoilt?: string
}

export interface TestHub {
  readonly url: string
  /** Paths asked for, in order. */
  readonly requests: readonly string[]
  /** May be changed between requests. */
  readonly repositories: Record<string, TestRepository>
  close(): Promise<void>
}

export const TEST_COMMIT = '0123456789abcdef0123456789abcdef01234567'
const PARTS = 8

export async function startTestHub(repositories: Record<string, TestRepository>, port = 0): Promise<TestHub> {
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://hub')
    requests.push(pathname)
    for await (const _ of request);
    const [, api, name = '', rest = ''] =
      /^(\/api\/models)?\/(.+?)(\/(?:revision|paths-info|resolve)\/.*)?$/.exec(pathname) ?? []
    const repository = repositories[name]
    if (!repository) return refuse(response, 404)
    if (repository.refused !== undefined) return refuse(response, repository.refused)
    if (api !== undefined && !rest.startsWith('/paths-info'))
      return answer(response, { _id: '1', id: name, sha: TEST_COMMIT })
    if (api !== undefined) return answer(response, Object.entries(repository.files).map(listed(repository)))
    if (repository.filesRefused !== undefined) return refuse(response, repository.filesRefused)
    const file = rest.replace(/^\/resolve\/[^/]+\//, '')
    const content = repository.files[file]
    if (content === undefined) return refuse(response, 404)
    const bytes = Buffer.from(content)
    await send(response, file === repository.spoilt ? spoiltBytes(bytes) : bytes, {
      pause: (repository.pauseIn ?? file) === file ? repository.pause : undefined,
      isCut: file === repository.cut,
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    repositories,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

const spoiltBytes = (bytes: Buffer): Buffer => Buffer.from(bytes.toString('latin1').replace(/\w/, '#'), 'latin1')

const listed =
  ({ isLfs, sizes }: TestRepository) =>
  ([path, given]: [string, string | Buffer]) => {
    const content = Buffer.from(given)
    const sha = (kind: string, prefix = '') => createHash(kind).update(prefix).update(content).digest('hex')
    const size = sizes?.[path] ?? content.length
    return {
      type: 'file',
      path,
      size,
      oid: sha('sha1', `blob ${size}\0`),
      ...(isLfs && { lfs: { oid: sha('sha256'), size, pointerSize: 130 } }),
    }
  }

async function send(
  response: ServerResponse,
  content: Buffer,
  { pause, isCut }: { readonly pause: TestRepository['pause'] | undefined; readonly isCut: boolean },
): Promise<void> {
  response.writeHead(200, { 'content-length': content.length })
  const step = Math.ceil(content.length / PARTS)
  for (let from = 0; from < content.length && !response.destroyed; from += step) {
    if (isCut && from >= content.length / 2) {
      response.destroy()
      return
    }
    response.write(content.subarray(from, from + step))
    await pause?.()
  }
  response.end()
}

const answer = (response: ServerResponse, value: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

const refuse = (response: ServerResponse, status: number): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: 'refused' }))
}
