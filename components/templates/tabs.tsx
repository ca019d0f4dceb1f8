/** The tabs of the template lab in order. Each tab is loaded when it is first shown. */

import type { ComponentType } from 'react'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import type { LabTabProps } from './lab-tab.ts'

interface LabTab {
  /** Name in the address. */
  readonly name: string
  readonly title: string
  readonly Tab: ComponentType<LabTabProps>
}

/** All tabs; the first one is the default. */
export const LAB_TABS: readonly LabTab[] = [
  {
    name: 'preview',
    title: 'Preview',
    Tab: lazyPart(async () => (await import('#components/templates/preview/preview-tab.tsx')).PreviewTab),
  },
  {
    name: 'compare',
    title: 'A/B',
    Tab: lazyPart(async () => (await import('#components/templates/compare/compare-tab.tsx')).CompareTab),
  },
  {
    name: 'stability',
    title: 'Prefix doctor',
    Tab: lazyPart(
      async () => (await import('#components/templates/prefix-preservation/stability-tab.tsx')).StabilityTab,
    ),
  },
  {
    name: 'masks',
    title: 'Mask doctor',
    Tab: lazyPart(async () => (await import('#components/templates/loss-mask/masks-tab.tsx')).MasksTab),
  },
  {
    name: 'parsers',
    title: 'Parser lab',
    Tab: lazyPart(async () => (await import('./parsing.tsx')).ParsingTabWithServers),
  },
]

/** Returns the tab with a name of the address, or else the first one. */
export const labTabNamed = (name: string | undefined): LabTab | undefined =>
  LAB_TABS.find((tab) => tab.name === name) ?? LAB_TABS[0]
