'use client'
/** Export of settings to a file, and import with a preview of the changes. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { FileButton } from '#components/ui/file-button.tsx'
import type { ServerEntry } from '#lib/api/server-status.ts'
import { saveText } from '#lib/browser/files/save-file.ts'
import { serversOptions } from '#lib/browser/queries.ts'
import { saveServers } from '#lib/browser/servers.ts'
import { useSamplingPresets } from '#lib/browser/use-sampling-presets.ts'
import type { OwnPreset } from '#lib/sampling/presets.ts'
import { readSettings, type Settings, settingsText } from '#lib/share/settings/settings-file.ts'
import {
  FIRST_CHOICES,
  type ImportChoices,
  importPlan,
  mergePresets,
  mergeServers,
  setupAfterImport,
} from '#lib/share/settings/settings-import.ts'
import type { Setup } from '#lib/share/settings/setup.ts'
import { ImportPreview } from './import-preview.tsx'

interface SettingsExchangeProps {
  readonly servers: readonly ServerEntry[]
  readonly setup: Setup
  /** Whether the stored setup is still being read. Until then nothing can be exported. */
  readonly isSetupReading: boolean
  readonly onSetup: (setup: Setup) => void
}

interface OpenedFile {
  readonly fileName: string
  readonly settings: Settings
  readonly ignored: readonly string[]
}

type Exchange =
  | { readonly kind: 'idle' }
  | { readonly kind: 'refused'; readonly title: string; readonly hint: string }
  | { readonly kind: 'done'; readonly text: string }
  | {
      readonly kind: 'preview'
      readonly file: OpenedFile
      readonly choices: ImportChoices
      readonly failures: ReadonlyMap<string, string>
      readonly isImporting: boolean
    }

/** Largest file in bytes; the settings of a thousand servers are a tenth of it. */
const LARGEST_FILE = 1 << 20

/** Shows the buttons that export and import settings. */
export function SettingsExchange({ servers, setup, isSetupReading, onSetup }: SettingsExchangeProps) {
  const cache = useQueryClient()
  const [presets, setPresets] = useSamplingPresets()
  const [exchange, setExchange] = useState<Exchange>({ kind: 'idle' })
  const read = async (file: File) => setExchange(await readExchange(file))
  const preview = exchange.kind === 'preview' ? exchange : undefined
  const plan = preview && importPlan(preview.file.settings, { servers, setup, presets })
  const carryOut = async () => {
    if (!preview || !plan) return
    const { file, choices } = preview
    setExchange({ ...preview, isImporting: true })
    try {
      const refused = await saveServers(
        mergeServers(plan, choices).map(({ kind, server: { name, baseUrl } }) => ({
          input: { name, baseUrl },
          replaced: kind === 'conflict' ? name : undefined,
        })),
      )
      const taken = setupAfterImport(plan, choices, new Set(refused.keys()))
      if (taken) onSetup(taken)
      setPresets(mergePresets(plan, choices, presets))
      const failures = new Map([...refused].map(([name, { message }]) => [name, message]))
      setExchange(
        failures.size > 0
          ? { ...preview, failures, isImporting: true }
          : { kind: 'done', text: `Imported ${file.fileName}.` },
      )
    } finally {
      await Promise.all(
        [serversOptions().queryKey, ['server-status']].map((queryKey) => cache.invalidateQueries({ queryKey })),
      )
      setExchange((now) => (now.kind === 'preview' ? { ...now, isImporting: false } : now))
    }
  }
  return (
    <div className="grid gap-2">
      <p className="text-dim text-xs">Servers, the playground’s setup and sampling presets as a file, without keys.</p>
      <div className="flex flex-wrap gap-2">
        <Button
          disabled={isSetupReading}
          onClick={() => saveText(exportSettings(servers, setup, presets), 'rollscope-settings.json')}
        >
          Export settings
        </Button>
        <FileButton accept=".json,application/json" label="Settings file" onFile={read}>
          Import settings
        </FileButton>
      </div>
      {exchange.kind === 'refused' && <Banner tone="bad" title={exchange.title} hint={exchange.hint} />}
      {exchange.kind === 'done' && <Banner tone="note" title={exchange.text} />}
      {preview && plan && (
        <ImportPreview
          fileName={preview.file.fileName}
          plan={plan}
          ignored={preview.file.ignored}
          choices={preview.choices}
          failures={preview.failures}
          isImporting={preview.isImporting}
          onChoose={(choices) => setExchange({ ...preview, choices })}
          onImport={carryOut}
          onClose={() => setExchange({ kind: 'idle' })}
        />
      )}
    </div>
  )
}

/** Returns the settings file. It contains only saved servers, since the others belong to the installation. */
const exportSettings = (servers: readonly ServerEntry[], setup: Setup, presets: readonly OwnPreset[]): string =>
  settingsText({
    servers: servers
      .filter(({ source }) => source === 'saved')
      .map(({ name, baseUrl, hasKey }) => ({ name, baseUrl, needsKey: hasKey })),
    setup,
    presets,
  })

async function readExchange(file: File): Promise<Exchange> {
  const refused = (why: string): Exchange => ({
    kind: 'refused',
    title: `${file.name} is not a settings file: ${why}`,
    hint: 'Nothing was changed. “Export settings” writes such a file.',
  })
  if (file.size > LARGEST_FILE) return refused('it is larger than 1 MiB')
  let text: string
  try {
    text = await file.text()
  } catch {
    // The file was moved or changed after the user chose it.
    return refused('it cannot be read')
  }
  const read = readSettings(text)
  if (!read.ok) return refused(read.why)
  return {
    kind: 'preview',
    file: { fileName: file.name, settings: read.settings, ignored: read.ignored },
    choices: FIRST_CHOICES,
    failures: new Map(),
    isImporting: false,
  }
}
