'use client'
/** Dialog of all sampling parameters, connected to the presets stored in this browser and to the model's files. */
import { useQuery } from '@tanstack/react-query'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'
import { generationConfigSchema } from '#lib/api/tokenizer-files.ts'
import { fetchJson } from '#lib/browser/api.ts'
import { serverStatusOptions } from '#lib/browser/queries.ts'
import { serverTokenizerName } from '#lib/browser/templates/template-sources.ts'
import { useSamplingPresets } from '#lib/browser/use-sampling-presets.ts'
import { SamplingDialog, type SamplingDialogProps } from './sampling-dialog.tsx'

interface Props extends Omit<SamplingDialogProps, 'ownPresets' | 'onOwnPresets' | 'loadOfModel' | 'server'> {
  readonly server: string
  /** Tokenizer of the setup. */
  readonly tokenizer: string
}

/** Shows the dialog with stored presets and the chosen server. */
export function SavedPresetsDialog({ server, tokenizer, ...rest }: Props) {
  const [ownPresets, setOwnPresets] = useSamplingPresets()
  const { data: status } = useQuery(serverStatusOptions(server))
  const isNamed = tokenizer.trim() !== '' && tokenizer !== SERVER_TOKENIZER
  const name = isNamed ? tokenizer.trim() : status && serverTokenizerName(server, status)
  return (
    <SamplingDialog
      {...rest}
      server={status?.state === 'ready' ? status : {}}
      ownPresets={ownPresets}
      onOwnPresets={setOwnPresets}
      loadOfModel={() => generationConfig(name)}
    />
  )
}

/** Returns the text of generation_config.json; undefined if the model has none. */
async function generationConfig(tokenizer: string | undefined): Promise<string | undefined> {
  if (tokenizer === undefined) throw new Error('The server does not report where its model’s files are.')
  const path = `/api/tokenizers/generation-config?name=${encodeURIComponent(tokenizer)}`
  return (await fetchJson(path, generationConfigSchema)).generationConfigJson
}
