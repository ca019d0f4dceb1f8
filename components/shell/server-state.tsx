import { countText } from '#components/token-view/numbers.ts'
import type { ServerEntry, ServerStatus } from '#lib/api/server-status.ts'
import type { DownloadProgress } from '#lib/api/tokenizer-download.ts'

/** Status of a server; `asking` means that nothing is known yet. */
export type ShownStatus = ServerStatus | { readonly state: 'asking' }

const LIGHTS = { asking: 'bg-line-strong', starting: 'bg-warn', ready: 'bg-good', failed: 'bg-bad' } as const

/** Shows the status as a coloured light, which always needs words beside it: some users cannot see the colour. */
export function ServerLight({ status }: { readonly status: ShownStatus }) {
  return (
    <span
      className={`inline-block size-2 shrink-0 forced-color-adjust-none rounded-full ${LIGHTS[status.state]}`}
      aria-hidden
    />
  )
}

/** Returns the status in one line: what the server serves, or why it cannot be used. */
export function statusText(status: ShownStatus): string {
  switch (status.state) {
    case 'asking':
      return 'contacting the server…'
    case 'starting':
      return status.download ? downloadText(status.download) : 'the server is starting…'
    case 'ready':
      return [
        status.modelName,
        status.contextLength && `${countText(status.contextLength)} tokens`,
        status.version && `version ${status.version}`,
      ]
        .filter(Boolean)
        .join(' · ')
    case 'failed':
      return status.message
  }
}

/** Returns the tooltip of the server in the header; `server` is undefined until the list of servers is loaded. */
export function serverTitle(server: ServerEntry | undefined, status: ShownStatus): string {
  const state = `Status: ${statusText(status)}`
  return server?.source === 'built-in'
    ? `The small model built into Rollscope, not a server of yours. To use your own, add it on the page Servers, or start Rollscope with SGLANG_BASE_URL. ${state}`
    : [server && `The server ${server.name} at ${server.baseUrl}, which runs use.`, state].filter(Boolean).join(' ')
}

/** Returns the progress of the model download that a server waits for. */
export const downloadText = ({ bytes, total }: DownloadProgress): string =>
  `downloading the model: ${megabytes(bytes)} of ${megabytes(total)} MB`

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)

/** Returns the status in one or two words, or the name of the model. */
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
