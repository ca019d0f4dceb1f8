import { countText } from '#components/token-view/numbers.ts'
import { Select } from '#components/ui/field.tsx'

interface EstimatesChoiceProps {
  /** Number of samples of value estimates that are left out; undefined if they are listed. */
  readonly hiddenSamples: number | undefined
  readonly onEstimates: (estimates: 'hidden' | 'shown') => void
}

/** Shows or leaves out the samples of value estimates. Without any, there is nothing to choose. */
export function EstimatesChoice({ hiddenSamples, onEstimates }: EstimatesChoiceProps) {
  if (hiddenSamples === 0) return null
  return (
    <Select
      aria-label="Samples of value estimates"
      title="An estimate samples a trajectory again from some of its tokens. The panel “Value” and the branches of the trajectory show these samples."
      value={hiddenSamples === undefined ? 'shown' : 'hidden'}
      data-set={hiddenSamples === undefined || undefined}
      onChange={(event) => onEstimates(event.target.value === 'hidden' ? 'hidden' : 'shown')}
      look="tall"
    >
      <option value="hidden">
        {hiddenSamples === undefined ? 'Value samples: hidden' : `Value samples: ${countText(hiddenSamples)} hidden`}
      </option>
      <option value="shown">Value samples: shown</option>
    </Select>
  )
}
