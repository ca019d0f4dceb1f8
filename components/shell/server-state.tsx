import type { ServerEntry, ServerStatus } from '#lib/api/server-status.ts'
import type { Download } from '#lib/api/tokenizer-download.ts'

/** asking: nothing is known yet. */
export type ShownStatus = ServerStatus | { readonly state: 'asking' }

const LIGHTS = { asking: 'bg-line-strong', starting: 'bg-warn', ready: 'bg-good', failed: 'bg-bad' } as const

/** A light and words: the colour alone says nothing to some. */
export function ServerLight({ status }: { readonly status: ShownStatus }) {
  return <span className={`inline-block size-2 shrink-0 rounded-full ${LIGHTS[status.state]}`} aria-hidden />
}

/** In one line: what it serves, or why it does not. */
export function statusText(status: ShownStatus): string {
  switch (status.state) {
    case 'asking':
      return 'contacting the server…'
    case 'starting':
      return status.download ? downloadText(status.download) : 'the server is starting…'
    case 'ready':
      return [
        status.modelName,
        status.contextLength && `${status.contextLength.toLocaleString('en')} tokens`,
        status.version && `version ${status.version}`,
      ]
        .filter(Boolean)
        .join(' · ')
    case 'failed':
      return status.message
  }
}

/** What the server in the header is, for its tooltip; undefined: the list of servers is not known yet. */
export function serverTitle(server: ServerEntry | undefined, status: ShownStatus): string {
  const state = `Status: ${statusText(status)}`
  return server?.source === 'built-in'
    ? `The small model built into Rollscope, not a server of yours. To use your own, add it on the page Servers, or start Rollscope with SGLANG_BASE_URL. ${state}`
    : [server && `The SGLang server ${server.name} at ${server.baseUrl}, which runs use.`, state]
        .filter(Boolean)
        .join(' ')
}

/** Of the model that a server waits for. */
export const downloadText = ({ bytes, total }: Download): string =>
  `downloading the model: ${megabytes(bytes)} of ${megabytes(total)} MB`

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)

/** In a word or two. */
export function stateText(status: ShownStatus): string {
  switch (status.state) {
    case 'asking':
      return 'checking…'
    case 'starting':
      return 'starting…'
    case 'ready':
      return status.modelName ?? 'up'
    case 'failed':
      return 'not usable'
  }
}
