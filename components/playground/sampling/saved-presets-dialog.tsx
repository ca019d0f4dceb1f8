'use client'
/** The list of all sampling parameters, with the presets that this browser keeps and what the model's files say. */
import { useQuery } from '@tanstack/react-query'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'
import { generationConfigSchema } from '#lib/api/tokenizer-files.ts'
import { fetchJson } from '#lib/browser/api.ts'
import { serverStatusOptions } from '#lib/browser/queries.ts'
import { serverTokenizer } from '#lib/browser/templates/template-sources.ts'
import { useSamplingPresets } from '#lib/browser/use-sampling-presets.ts'
import { SamplingDialog as Dialog, type SamplingDialogProps } from './sampling-dialog.tsx'

interface Props extends Omit<SamplingDialogProps, 'ownPresets' | 'onOwnPresets' | 'loadOfModel' | 'server'> {
  readonly server: string
  /** As in the setup. */
  readonly tokenizer: string
}

export function SamplingDialog({ server, tokenizer, ...rest }: Props) {
  const [ownPresets, setOwnPresets] = useSamplingPresets()
  const { data: status } = useQuery(serverStatusOptions(server))
  const isNamed = tokenizer.trim() !== '' && tokenizer !== SERVER_TOKENIZER
  const name = isNamed ? tokenizer.trim() : status && serverTokenizer(server, status)
  return (
    <Dialog
      {...rest}
      server={status?.state === 'ready' ? status : {}}
      ownPresets={ownPresets}
      onOwnPresets={setOwnPresets}
      loadOfModel={() => generationConfig(name)}
    />
  )
}

/** Undefined: the model has none. */
async function generationConfig(tokenizer: string | undefined): Promise<string | undefined> {
  if (tokenizer === undefined) throw new Error('The server does not report where its model’s files are.')
  const path = `/api/tokenizers/generation-config?name=${encodeURIComponent(tokenizer)}`
  return (await fetchJson(path, generationConfigSchema)).generationConfigJson
}
