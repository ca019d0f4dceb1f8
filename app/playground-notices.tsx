'use client'
import { useQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import type { ApiError } from '#lib/client/api.ts'
import { downloadsOptions } from '#lib/client/queries.ts'

const Downloads = dynamic(async () => (await import('#components/playground/downloads.tsx')).Downloads, {
  loading: () => null,
})

interface PlaygroundNoticesProps {
  readonly problem: ApiError | undefined
  readonly isConnected: boolean
  /** A start waits for its answer, which may wait for a download. */
  readonly isStarting: boolean
  /** Sends again, with the server as tokenizer. */
  readonly onServerTokenizer: () => void
}

/** What stands between a prompt and its run. */
export function PlaygroundNotices({ problem, isConnected, isStarting, onServerTokenizer }: PlaygroundNoticesProps) {
  const { data: waitingFor } = useQuery(downloadsOptions(isStarting))
  return (
    <>
      {!isConnected && (
        <Banner
          tone="note"
          title="The connection to Rollscope’s server was lost; trying again …"
          hint="The run goes on for a minute without a listener."
        />
      )}
      {problem && (
        <Banner tone="bad" title={problem.message} hint={problem.hint}>
          {problem.remedy === 'server-tokenizer' && (
            <Button onClick={onServerTokenizer}>Use the server’s tokenizer</Button>
          )}
        </Banner>
      )}
      {isStarting && waitingFor && <Downloads downloads={waitingFor.downloads} />}
    </>
  )
}
