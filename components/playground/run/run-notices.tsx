'use client'
import { useQuery } from '@tanstack/react-query'
import { inspectorHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { Link, useNavigation } from '#components/shell/navigation.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import type { ServerEntry } from '#lib/api/server-status.ts'
import type { ApiError } from '#lib/browser/api.ts'
import { downloadsOptions } from '#lib/browser/tokenizers.ts'

const Downloads = lazyPart(async () => (await import('#components/tokenizer/downloads.tsx')).Downloads)

interface PlaygroundNoticesProps {
  readonly problem: ApiError | undefined
  /** Key of the trajectory that is shown or missing. */
  readonly storedKey: string | undefined
  /** The chosen server; undefined until the list of servers is loaded. */
  readonly server: ServerEntry | undefined
  readonly isConnected: boolean
  /** Whether a start waits for its answer, which may include a download. */
  readonly isStarting: boolean
  /** Sends the prompt again with the server as tokenizer. */
  readonly onServerTokenizer: () => void
}

/** Codes of failures that often have a wrong server address as their cause. */
const ADDRESS_FAILURES: ReadonlySet<string> = new Set([
  'ADDRESS_REFUSED',
  'BAD_HTTP',
  'CIRCUIT_OPEN',
  'CONNECT_REFUSED',
  'CONNECT_TIMEOUT',
  'CONNECTION_RESET',
  'DNS_FAILED',
  'HEADERS_TIMEOUT',
  'UNKNOWN_SERVER',
  'TLS_FAILED',
  'UPSTREAM_REDIRECT',
])

/** Notices about what prevents or delays a run. */
export function PlaygroundNotices({
  problem,
  storedKey,
  server,
  isConnected,
  isStarting,
  onServerTokenizer,
}: PlaygroundNoticesProps) {
  const { data: waitingFor } = useQuery(downloadsOptions(isStarting))
  // While the application is slow or does not respond, the frame of the page says so.
  const { application } = useNavigation()
  const unreached = problem && ADDRESS_FAILURES.has(problem.code) ? server : undefined
  const remedy = unreached
    ? { href: `/servers?server=${encodeURIComponent(unreached.name)}`, text: 'Open Servers' }
    : problem?.code === 'DELETED' && storedKey !== undefined
      ? { href: inspectorHref(storedKey), text: 'Open it to restore it' }
      : undefined
  return (
    <>
      {!isConnected && application === 'answers' && (
        <Banner
          tone="note"
          title="The connection to Rollscope’s server was lost. Trying again…"
          hint="The run continues for a minute without a connection."
        />
      )}
      {problem && (
        <Banner
          tone="bad"
          title={unreached ? `${problem.message}: ${unreached.name} (${unreached.baseUrl})` : problem.message}
          hint={problem.hint}
        >
          {remedy && (
            <Link
              href={remedy.href}
              className="inline-flex min-h-8 items-center font-medium text-accent hover:underline"
            >
              {remedy.text}
            </Link>
          )}
          {problem.remedy === 'server-tokenizer' && (
            <Button onClick={onServerTokenizer}>Use the server’s tokenizer</Button>
          )}
        </Banner>
      )}
      {isStarting && waitingFor && <Downloads downloads={waitingFor.downloads} />}
    </>
  )
}
