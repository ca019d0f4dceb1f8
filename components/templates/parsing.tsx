'use client'
/** The parser lab's tab with the names of the registered servers. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { ParsingTab } from '#components/templates/tool-parsing/parsing-tab.tsx'
import { whyUnsupported } from '#lib/api/engine/unsupported.ts'
import { knownStatusOptions, serversOptions } from '#lib/browser/queries.ts'
import { fetchServerParsing } from '#lib/browser/rollout/server-parsing.ts'
import { keepText, sessionText } from '#lib/browser/session-text.ts'
import { refusalText } from '#lib/sampling/refusal.ts'
import type { LabTabProps } from './lab-tab.ts'

/** Connects the parser lab to the servers and to the text kept for this browser session. */
export function ParsingTabWithServers(props: LabTabProps) {
  const { data } = useQuery(serversOptions())
  const servers = data?.servers.map(({ name }) => name) ?? []
  const statuses = useQueries({ queries: servers.map(knownStatusOptions) })
  const serverRefusals = Object.fromEntries(
    servers.flatMap((server, index) => {
      const status = statuses[index]?.data
      const refusal = status?.state === 'ready' ? whyUnsupported('parsers', status.capabilities) : undefined
      return refusal ? [[server, refusalText(refusal)]] : []
    }),
  )
  const name = `parser-lab:${props.trajectory?.id ?? ''}`
  return (
    <ParsingTab
      key={name}
      {...props}
      servers={servers}
      serverRefusals={serverRefusals}
      askServer={fetchServerParsing}
      kept={sessionText(name)}
      onKeep={(text) => keepText(name, text)}
    />
  )
}
