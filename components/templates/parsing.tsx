'use client'
/** The parser lab's tab with the names of the registered servers. */
import { useQuery } from '@tanstack/react-query'
import { ParsingTab } from '#components/templates/tool-parsing/parsing-tab.tsx'
import { serversOptions } from '#lib/browser/queries.ts'
import { fetchServerParsing } from '#lib/browser/rollout/server-parsing.ts'
import { keepText, sessionText } from '#lib/browser/session-text.ts'
import type { LabTabProps } from './lab-tab.ts'

/** Connects the parser lab to the servers and to the text kept for this browser session. */
export function ParsingTabWithServers(props: LabTabProps) {
  const { data } = useQuery(serversOptions())
  const servers = data?.servers.map(({ name }) => name) ?? []
  const name = `parser-lab:${props.trajectory?.id ?? ''}`
  return (
    <ParsingTab
      key={name}
      {...props}
      servers={servers}
      askServer={fetchServerParsing}
      kept={sessionText(name)}
      onKeep={(text) => keepText(name, text)}
    />
  )
}
