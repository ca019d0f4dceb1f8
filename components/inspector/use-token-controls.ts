'use client'
import { type RefObject, useRef, useState } from 'react'
import type { GridOptions } from '#components/token-view/grid-options.ts'
import { GRID_OPTIONS } from '#components/token-view/grid-options.ts'
import type { PopoverControl } from '#components/ui/popover.tsx'
import { usePreference } from '#lib/browser/preference.ts'

/** Controls of the token view that the address does not store. */
export interface TokenControls {
  readonly options: GridOptions
  readonly onOptions: (options: GridOptions) => void
  readonly legend: RefObject<PopoverControl | null>
  /** Whether a narrow window shows the colours and the search. */
  readonly hasTools: boolean
  readonly onTools: (hasTools: boolean) => void
  /** Whether the value estimates are shown above the tokens. */
  readonly hasValue: boolean
  readonly onValue: (hasValue: boolean) => void
}

/** Returns the controls of the token view. */
export function useTokenControls(): TokenControls {
  const [options, onOptions] = usePreference(GRID_OPTIONS)
  const [hasTools, onTools] = useState(false)
  const [hasValue, onValue] = useState(false)
  const legend = useRef<PopoverControl>(null)
  return { options, onOptions, legend, hasTools, onTools, hasValue, onValue }
}
