/** The tabs of the inspector beside Tokens, in their order. Each is loaded when it is first shown. */
import dynamic from 'next/dynamic'
import type { ComponentType } from 'react'
import type { InspectorPartProps, InspectorTab } from '#components/inspector/inspection.ts'

export const OTHER_TABS: Readonly<Record<Exclude<InspectorTab, 'tokens'>, ComponentType<InspectorPartProps>>> = {
  messages: dynamic(async () => (await import('#components/inspector/messages-tab.tsx')).MessagesTab, {
    loading: () => null,
  }),
  requests: dynamic(async () => (await import('#components/inspector/requests-tab.tsx')).RequestsTab, {
    loading: () => null,
  }),
  charts: dynamic(async () => (await import('#components/inspector/charts-tab.tsx')).ChartsTab, {
    loading: () => null,
  }),
  trainer: dynamic(async () => (await import('#components/inspector/trainer-tab.tsx')).TrainerTab, {
    loading: () => null,
  }),
  raw: dynamic(async () => (await import('#components/inspector/raw-tab.tsx')).RawTab, { loading: () => null }),
}
