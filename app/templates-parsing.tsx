'use client'
/** The parser lab's tab, with the servers that it may ask. */
import { useQuery } from '@tanstack/react-query'
import type { LabTabProps } from '#components/templates/lab-tab.ts'
import { ParsingTab } from '#components/templates/parsing-tab.tsx'
import { keepText, keptText } from '#lib/client/kept-text.ts'
import { serversOptions } from '#lib/client/queries.ts'
import { askServerParsers } from '#lib/client/server-parsing.ts'

export function ParsingTabWithServers(props: LabTabProps) {
  const { data } = useQuery(serversOptions())
  const servers = data?.servers.map(({ name }) => name) ?? []
  const name = `parser-lab:${props.trajectory?.id ?? ''}`
  return (
    <ParsingTab
      key={name}
      {...props}
      servers={servers}
      askServer={askServerParsers}
      kept={keptText(name)}
      onKeep={(text) => keepText(name, text)}
    />
  )
}
