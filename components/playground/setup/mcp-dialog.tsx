'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { CheckField, TextField } from '#components/ui/field.tsx'
import type { McpServerEntry, McpToolName } from '#lib/api/mcp-server.ts'
import { ApiError } from '#lib/browser/api.ts'
import { mcpServersOptions, mcpToolsOptions, removeMcpServer, saveMcpServer } from '#lib/browser/mcp-servers.ts'
import type { Setup } from '#lib/share/settings/setup.ts'
import { toolListProblem } from '#lib/tools/mock-tool.ts'

type Choice = Pick<Setup, 'tools' | 'mcpTools'>

interface McpDialogProps extends Choice, Pick<Setup, 'mockTools'> {
  readonly onChange: (chosen: Choice) => void
  readonly onClose: () => void
}

/** Dialog that chooses which tools of which MCP servers a run is offered. */
export function McpDialog({ tools, mockTools, mcpTools, onChange, onClose }: McpDialogProps) {
  const { data: servers, error } = useQuery(mcpServersOptions())
  const toggle = (tool: McpToolName, isChosen: boolean) =>
    onChange({
      // A chosen tool replaces another chosen one with the same name.
      mcpTools: [...mcpTools.filter(({ name }) => name !== tool.name), ...(isChosen ? [tool] : [])],
      tools: [...tools.filter((name) => name !== tool.name), ...(isChosen ? [tool.name] : [])],
    })
  /** Removes all tools of a server from the setup. */
  const leaveOut = (server: string) => {
    const left = mcpTools.flatMap(({ mcp, name }) => (mcp === server ? [name] : []))
    onChange({
      mcpTools: mcpTools.filter(({ mcp }) => mcp !== server),
      tools: tools.filter((name) => !left.includes(name)),
    })
  }
  const chosen = mcpTools
    .filter(({ name }) => tools.includes(name))
    .map(({ mcp, name }) => ({ name, mcp: { server: mcp } }))
  const clash = ({ mcp, name }: McpToolName) =>
    toolListProblem([...chosen, ...mockTools, { name, mcp: { server: mcp } }])
  return (
    <Dialog title="Tools of MCP servers" onClose={onClose}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {error instanceof ApiError && <Banner tone="bad" title={error.message} hint={error.hint} />}
        {servers?.length === 0 && (
          <p className="text-dim">
            None yet. Add a streamable HTTP server by its URL. List programs (stdio) in a JSON file, as for other MCP
            clients, and start Rollscope with ROLLSCOPE_MCP set to its path.
          </p>
        )}
        {servers?.map((server) => (
          <ServerTools
            key={server.name}
            server={server}
            chosen={mcpTools.filter(({ mcp }) => mcp === server.name)}
            clash={clash}
            onToggle={toggle}
            onRemoved={() => leaveOut(server.name)}
          />
        ))}
        <NewServer />
      </div>
    </Dialog>
  )
}

interface ServerToolsProps {
  readonly server: McpServerEntry
  readonly chosen: readonly McpToolName[]
  /** Returns why the run cannot have a tool together with its other tools; undefined if it can. */
  readonly clash: (tool: McpToolName) => string | undefined
  readonly onToggle: (tool: McpToolName, isChosen: boolean) => void
  /** Called when the server is no longer saved. */
  readonly onRemoved: () => void
}

function ServerTools({ server: { name, place, source }, chosen, clash, onToggle, onRemoved }: ServerToolsProps) {
  const [isAsked, setIsAsked] = useState(chosen.length > 0)
  const [refusal, setRefusal] = useState<ApiError>()
  const { data, error, isFetching, refetch } = useQuery({ ...mcpToolsOptions(name), enabled: isAsked })
  const client = useQueryClient()
  // A server may list several tools with the same name.
  const offered = data?.map((tool, index) => ({ ...tool, key: `${index} ${tool.name}` }))
  const gone = chosen.filter((tool) => data && !data.some((offered) => offered.name === tool.name))
  const problem = refusal ?? error
  const remove = async () => {
    setRefusal(undefined)
    try {
      await removeMcpServer(name)
      onRemoved()
      await client.invalidateQueries({ queryKey: mcpServersOptions().queryKey })
    } catch (reason) {
      if (!(reason instanceof ApiError)) throw reason
      setRefusal(reason)
    }
  }
  return (
    <section aria-label={name} data-mcp-server={name}>
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <Heading>{name}</Heading>
          <p className="text-faint text-xs [overflow-wrap:anywhere]">
            {place.kind === 'http' ? place.url : `program ${place.command}`}
            {source === 'configuration' && ' · from ROLLSCOPE_MCP'}
          </p>
        </div>
        {isAsked ? (
          <Button onClick={() => refetch()} disabled={isFetching}>
            {isFetching ? 'Loading…' : 'Reload tools'}
          </Button>
        ) : (
          <Button onClick={() => setIsAsked(true)}>Show tools</Button>
        )}
        {source === 'saved' && (
          <Button aria-label={`Remove ${name}`} onClick={remove}>
            Remove
          </Button>
        )}
      </div>
      {problem instanceof ApiError && <Banner tone="bad" title={problem.message} hint={problem.hint} />}
      {data?.length === 0 && <p className="text-faint text-xs">No tools.</p>}
      {offered?.map(({ key, name: tool, tool: ownName, description, obstacle, fingerprint }) => {
        const choice = obstacle === undefined ? chosen.find((other) => other.name === tool) : undefined
        const why = obstacle ?? (choice ? undefined : clash({ mcp: name, name: tool }))
        const hasChanged = choice?.fingerprint !== undefined && choice.fingerprint !== fingerprint
        const toggle = (isChosen: boolean) =>
          onToggle({ mcp: name, name: tool, ...(fingerprint !== undefined && { fingerprint }) }, isChosen)
        return (
          <div key={key}>
            <CheckField
              label={tool}
              note={why ?? [ownName, description].filter(Boolean).join(': ')}
              disabled={why !== undefined}
              checked={choice !== undefined}
              onChange={({ target }) => toggle(target.checked)}
            />
            {hasChanged && (
              <Banner
                tone="bad"
                title={`The server changed the description or the schema of ${tool} since you chose it.`}
                hint="Runs with this tool are refused until you have read its new description and confirmed it."
              >
                <Button onClick={() => toggle(true)}>Confirm {tool}</Button>
              </Banner>
            )}
          </div>
        )
      })}
      {gone.map((tool) => (
        <CheckField
          key={tool.name}
          label={tool.name}
          note="no longer offered by the server"
          checked
          onChange={() => onToggle(tool, false)}
        />
      ))}
    </section>
  )
}

function NewServer() {
  const client = useQueryClient()
  const [input, setInput] = useState({ name: '', url: '', apiKey: '' })
  const [problem, setProblem] = useState<ApiError>()
  const field = (name: keyof typeof input) => ({
    value: input[name],
    error: problem?.field === name ? problem.message : undefined,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => {
      setProblem(undefined)
      setInput({ ...input, [name]: target.value })
    },
  })
  const isComplete = input.name.trim() !== '' && input.url.trim() !== ''
  const add = async () => {
    const { name, url, apiKey } = input
    try {
      await saveMcpServer({ name: name.trim(), url: url.trim(), ...(apiKey !== '' && { apiKey }) })
      setInput({ name: '', url: '', apiKey: '' })
      void client.invalidateQueries({ queryKey: mcpServersOptions().queryKey })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem(error)
    }
  }
  return (
    // This cannot be a form, because the dialog is inside the form of the setup and forms cannot be nested.
    // biome-ignore lint/a11y/noStaticElementInteractions: the handler serves the fields inside
    <div
      className="grid gap-2.5 border-line border-t pt-3"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
        event.preventDefault()
        if (isComplete) void add()
      }}
    >
      <div className="grid grid-cols-2 gap-2.5">
        <TextField label="Name" placeholder="search" {...field('name')} />
        <TextField label="API key, if required" type="password" autoComplete="off" {...field('apiKey')} />
      </div>
      <TextField label="URL" placeholder="http://127.0.0.1:8000/mcp" {...field('url')} />
      {problem && problem.field === undefined && <Banner tone="bad" title={problem.message} hint={problem.hint} />}
      <div className="flex justify-end">
        <Button onClick={add} disabled={!isComplete}>
          Add
        </Button>
      </div>
    </div>
  )
}
