'use client'
import { useQuery } from '@tanstack/react-query'
import { Banner } from '#components/ui/banner.tsx'
import { BoundedText } from '#components/ui/bounded-text.tsx'
import type { SessionCallRow } from '#lib/api/sessions/session.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { callRequestOptions } from '#lib/browser/sessions/sessions.ts'

interface CallRequestProps {
  readonly sessionId: string
  readonly call: SessionCallRow
}

/** Shows what the client sent with a call that has no tokens. */
export function CallRequest({ sessionId, call: { sequence, method, path } }: CallRequestProps) {
  const { data, error } = useQuery(callRequestOptions(sessionId, sequence))
  return (
    <div className="min-h-0 overflow-y-auto p-3.5 text-sm">
      <h3 className="mb-1.5 font-medium">Request</h3>
      <p className="mb-1.5 font-mono text-dim text-xs">
        {method} {path}
      </p>
      {error && <Banner tone="bad" title={error.message} hint={hintOf(error)} />}
      {data && (
        <BoundedText
          label="Body of the request"
          text={
            Object.keys(data.request).length > 0
              ? JSON.stringify(data.request, null, 2)
              : 'No JSON object was received.'
          }
          className="font-mono text-xs"
        />
      )}
    </div>
  )
}
