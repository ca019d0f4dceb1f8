'use client'
/** Sharing of setups by link or file. A received setup is previewed before it is applied. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ServerEntry } from '#lib/api/server-status.ts'
import { capabilitiesOptions } from '#lib/browser/capabilities.ts'
import { saveText } from '#lib/browser/files/save-file.ts'
import { mcpToolsOptions } from '#lib/browser/mcp-servers.ts'
import { rolloutCurl } from '#lib/share/reproduce/curl.ts'
import { pythonScript } from '#lib/share/reproduce/python-script.ts'
import { repeatableRunOfRequest } from '#lib/share/reproduce/repeatable-run.ts'
import type { PromptDraft } from '#lib/share/settings/prompt-draft.ts'
import { withPrompt } from '#lib/share/settings/prompt-opening.ts'
import { readSettings, type Settings } from '#lib/share/settings/settings-file.ts'
import { FIRST_CHOICES, type ImportChoices, importPlan, setupAfterImport } from '#lib/share/settings/settings-import.ts'
import type { Setup } from '#lib/share/settings/setup.ts'
import { requestOf } from '#lib/share/settings/setup-request.ts'
import { sharedText } from '#lib/share/settings/shared-setup.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { hashOfJson, textOfHash } from '#lib/util/link-hash.ts'
import { ImportPreview } from './import-preview.tsx'
import { ShareDialog, type SharedLink } from './share-dialog.tsx'

interface SetupSharingProps {
  /** Hash of the address that contains a setup; undefined to share the current one. */
  readonly hash: string | undefined
  readonly setup: Setup
  readonly draft: PromptDraft
  readonly servers: readonly ServerEntry[]
  /** Name of the server that a run would use. */
  readonly server: string
  readonly onTaken: (setup: Setup, prompt: PromptDraft | undefined) => void
  readonly onClose: () => void
}

interface Opened {
  readonly settings: Settings
  readonly ignored: readonly string[]
  readonly choices: ImportChoices
}

/** Shows the dialog that shares the current setup, or the preview of a received one. */
export function SetupSharing({ hash, setup, draft, servers, server, onTaken, onClose }: SetupSharingProps) {
  const [link, setLink] = useState<SharedLink>({ kind: 'pending' })
  const [opened, setOpened] = useState<Opened>()
  const [problem, setProblem] = useState<string>()
  const text = sharedText(setup, draft)
  useEffect(() => {
    let isCurrent = true
    void hashOfJson(text, 'setup').then((hash) => {
      if (!isCurrent) return
      setLink(hash === undefined ? { kind: 'too-large' } : { kind: 'ready', href: `${window.location.origin}/${hash}` })
    })
    return () => {
      isCurrent = false
    }
  }, [text])
  const open = async (source: string) => {
    const found = await openedSetup(source)
    if (typeof found === 'string') setProblem(found)
    else setOpened(found)
  }
  useEffect(() => {
    if (hash !== undefined)
      void openedSetup(hash).then((found) => (typeof found === 'string' ? setProblem(found) : setOpened(found)))
  }, [hash])
  const specs = useToolSpecs(setup)
  if (opened && servers.length > 0) {
    const plan = importPlan(opened.settings, { servers, setup, presets: [], prompt: draft })
    return (
      <ImportPreview
        fileName="a shared setup"
        plan={plan}
        ignored={opened.ignored}
        choices={opened.choices}
        failures={new Map()}
        isImporting={false}
        onChoose={(choices) => setOpened({ ...opened, choices })}
        onImport={() => {
          const taken = setupAfterImport(plan, opened.choices, new Set())
          if (taken) onTaken(taken, plan.setup?.prompt)
          onClose()
        }}
        onClose={onClose}
      />
    )
  }
  if (hash !== undefined && problem === undefined) return null
  const code = codeOf(setup, draft, specs, servers.find(({ name }) => name === server)?.baseUrl)
  return (
    <ShareDialog
      what="setup"
      about="Prompt, tools, sampling, limits, template and parser. The server is included by name only: its address and keys never are."
      link={link}
      copies={[{ name: 'JSON', text: () => text }, ...code]}
      onSave={() => saveText(text, 'rollscope-setup.json')}
      onOpen={open}
      problem={problem}
      onClose={onClose}
    />
  )
}

/** Returns the setup of a link or a JSON text, or why there is none. */
async function openedSetup(source: string): Promise<Opened | string> {
  const found = await textOfHash(source, 'setup')
  if (found.kind === 'broken') return `This link cannot be opened: ${found.why}.`
  const read = readSettings(found.kind === 'text' ? found.text : source)
  if (!read.ok) return `This is not a setup: ${read.why}.`
  // Servers and presets are imported only from exported settings.
  return { settings: { ...read.settings, servers: [], presets: [] }, ignored: read.ignored, choices: FIRST_CHOICES }
}

/** Returns the known tools of a setup; those of an unreachable MCP server are missing. */
function useToolSpecs({ mcpTools, tools }: Setup): readonly ToolSpec[] {
  const { data } = useQuery(capabilitiesOptions())
  const names = [...new Set(mcpTools.filter(({ name }) => tools.includes(name)).map(({ mcp }) => mcp))]
  const offered = useQueries({ queries: names.map(mcpToolsOptions) })
  return [
    ...(data?.tools ?? []),
    ...offered.flatMap(({ data = [] }, index) =>
      data.map((tool) => ({ ...tool, mcp: { server: elementAt(names, index) } })),
    ),
  ]
}

/** Returns programs that repeat the run; [] if the setup cannot be sent. */
function codeOf(setup: Setup, draft: PromptDraft, specs: readonly ToolSpec[], baseUrl: string | undefined) {
  const request = requestOf(setup)
  const first = request.ok ? withPrompt(draft, request.opening) : undefined
  if (!request.ok || !first?.ok) return []
  const { samples, servers, reward } = request
  const again = repeatableRunOfRequest(
    { ...first.opening, ...request.settings },
    { samples, specs, ...(servers && { servers }), ...(reward && { reward }) },
  )
  return [
    { name: 'as Python script', text: () => pythonScript(again, { baseUrl }) },
    { name: 'as cURL', text: () => rolloutCurl(again) },
  ]
}
