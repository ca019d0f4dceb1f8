'use client'
import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs'
import { useAddress } from '#components/shell/use-address.ts'
import type { LabDocument } from '#lib/templates/document/document.ts'
import type { SharedView } from '#lib/templates/document/shared-document.ts'
import { sourceLink } from '#lib/templates/document/source.ts'
import { LAB_VIEW_NAMES, type LabView, type LabViewName } from './lab-tab.ts'

/** What the left side shows. */
export const LAB_PARTS = ['template', 'messages', 'tools', 'options'] as const
export type LabPart = (typeof LAB_PARTS)[number]
const FORMS = ['form', 'json'] as const
export type LabForm = (typeof FORMS)[number]

const tabNames = Object.fromEntries(LAB_VIEW_NAMES.map((name) => [name, parseAsString])) as {
  [name in LabViewName]: typeof parseAsString
}

/** What the address says of the lab: a copied link shows the same, as far as the other browser can have it. */
export function useLabAddress() {
  const [{ tab, part, as, from, t, tokenizer, revision, ...tabs }, set] = useAddress({
    tab: parseAsString,
    part: parseAsStringLiteral(LAB_PARTS).withDefault('template'),
    as: parseAsStringLiteral(FORMS).withDefault('form'),
    from: parseAsString,
    t: parseAsString,
    tokenizer: parseAsString,
    revision: parseAsInteger,
    ...tabNames,
  })
  return {
    tab: tab ?? undefined,
    part,
    as,
    linked: {
      from: from ?? undefined,
      trajectory: t ?? undefined,
      tokenizer: tokenizer ?? undefined,
      revision: revision ?? undefined,
    },
    view: Object.fromEntries(Object.entries(tabs).map(([name, value]) => [name, value ?? undefined])) as LabView,
    show: (shown: { readonly tab?: string; readonly part?: LabPart; readonly as?: LabForm }) => set(shown),
    setView: (change: LabView) =>
      set(Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? null]))),
    /** What a shared document shows. `against`: number of the other revision of A/B. */
    showShared: ({ tab, part, as, ...shared }: SharedView, against: number | undefined) =>
      set({
        ...(Object.fromEntries(LAB_VIEW_NAMES.map((name) => [name, null])) as { [name in LabViewName]: null }),
        ...shared,
        tab: tab ?? null,
        part: part ?? null,
        as: as ?? null,
        against: against === undefined ? null : String(against),
      }),
    /** The address says of the document what brings it back. */
    follow: (document: LabDocument) =>
      set({
        from: sourceLink(document.source) ?? null,
        t: document.trajectory ?? null,
        tokenizer: document.tokenizer,
        revision: document.shown,
      }),
  }
}

export type LabLink = ReturnType<typeof useLabAddress>['linked']

export const isFollowed = ({ from, trajectory, tokenizer, revision }: LabLink, document: LabDocument): boolean =>
  from === sourceLink(document.source) &&
  trajectory === document.trajectory &&
  tokenizer === document.tokenizer &&
  revision === document.shown
