/** Test double: a Hub on this machine, with the paths and shapes that downloads of tokenizer files and models use. */
import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { closeServer, listeningUrl } from './listening.ts'

/** A repository of the test Hub, and its faults. */
export interface TestRepository {
  /** Contents by path. */
  readonly files: Readonly<Record<string, string | Buffer>>
  /** Status of every answer about the repository, instead of its files. */
  readonly refused?: number
  /** Token that every request must have. Omitted: none. */
  readonly token?: string
  /** Status instead of the contents of files: a gated model whose metadata is public. */
  readonly filesRefused?: number
  /** Whether files are stored as LFS objects, with their SHA-256. */
  readonly isLfs?: boolean
  /** Sizes in bytes that are listed instead of the real ones, by path. */
  readonly sizes?: Readonly<Record<string, number>>
  /** Waits between two parts of a file. */
  readonly pause?: () => Promise<unknown>
  /** Path of the only file that pauses. Omitted: every file. */
  readonly pauseIn?: string
  /** Path of the file in whose middle the connection ends. */
  readonly cut?: string
  /** Path of the file whose bytes differ from the listed ones, with the same length. */
  readonly spoilt?: string
}

/** A running test Hub. */
export interface TestHub {
  readonly url: string
  /** Requested paths, in order. */
  readonly requests: readonly string[]
  /** Repositories by name; tests may change them between requests. */
  readonly repositories: Record<string, TestRepository>
  close(): Promise<void>
}

/** Commit of every repository. */
export const TEST_COMMIT = '0123456789abcdef0123456789abcdef01234567'
const PARTS = 8

/** Starts a Hub on 127.0.0.1; port 0 selects a free one. */
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
    if (repository.token !== undefined && request.headers.authorization !== `Bearer ${repository.token}`)
      return refuse(response, 401)
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
  return {
    url: await listeningUrl(server, port),
    requests,
    repositories,
    close: () => closeServer(server),
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
