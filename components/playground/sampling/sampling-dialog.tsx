'use client'
import { useState } from 'react'
import type { ServerTraits } from '#lib/api/ignored-parameters.ts'
import type { SamplingField, SamplingTexts } from '#lib/sampling/fields.ts'
import type { OwnPreset } from '#lib/sampling/presets.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TabList, TabPanel } from '../../ui/tabs.tsx'
import { ImportPane } from './import-pane.tsx'
import { ParameterList } from './parameter-list.tsx'
import { PresetList } from './preset-list.tsx'

/** Values and callbacks of the dialog; saved-presets-dialog.tsx supplies those that need the server. */
export interface SamplingDialogProps {
  readonly sampling: SamplingTexts
  /** Number of samples as typed; an imported text may change it. */
  readonly samples: string
  readonly onChange: (changed: { readonly sampling: SamplingTexts; readonly samples?: string }) => void
  readonly errors: Readonly<Record<string, string>>
  readonly server: ServerTraits
  /** Parameter that is shown first. */
  readonly field: SamplingField | undefined
  readonly ownPresets: readonly OwnPreset[]
  readonly onOwnPresets: (presets: readonly OwnPreset[]) => void
  /** Returns the model's generation_config.json; undefined if it has none. Throws Error with a message for the user. */
  readonly loadOfModel: () => Promise<string | undefined>
  readonly onClose: () => void
}

type Tab = 'parameters' | 'presets' | 'import'
const TABS = [
  { value: 'parameters', text: 'Parameters' },
  { value: 'presets', text: 'Presets' },
  { value: 'import', text: 'Import' },
] as const

/** Dialog of all sampling parameters, presets and imports. Changes take effect immediately. */
export function SamplingDialog(props: SamplingDialogProps) {
  const { sampling, samples, onChange, errors, server, field, ownPresets, onOwnPresets, loadOfModel, onClose } = props
  const [tab, setTab] = useState<Tab>('parameters')
  return (
    <Dialog title="Sampling parameters" onClose={onClose} closesBeside={false} width="wide">
      <div className="-mt-2 mb-4 border-line border-b">
        <TabList label="Sampling" id="sampling" tabs={TABS} value={tab} onChange={setTab} />
      </div>
      <TabPanel id="sampling" value={tab} isShown>
        {tab === 'parameters' && (
          <ParameterList
            sampling={sampling}
            errors={errors}
            server={server}
            field={field}
            onChange={(changed) => onChange({ sampling: changed })}
          />
        )}
        {tab === 'presets' && (
          <PresetList
            sampling={sampling}
            own={ownPresets}
            onOwn={onOwnPresets}
            onApply={(changed) => onChange({ sampling: { ...sampling, ...changed } })}
          />
        )}
        {tab === 'import' && (
          <ImportPane
            sampling={sampling}
            samples={samples}
            loadOfModel={loadOfModel}
            onApply={(changed, count) =>
              onChange({
                sampling: { ...sampling, ...changed },
                ...(count !== undefined && { samples: String(count) }),
              })
            }
          />
        )}
      </TabPanel>
    </Dialog>
  )
}
