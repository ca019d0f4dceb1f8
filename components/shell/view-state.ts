'use client'
import { createSerializer, parseAsFloat, parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs'
import { INSPECTOR_TABS, type InspectorView } from '#components/inspector/inspection.ts'
import { readSelection, type Selection, selectionText } from '#components/token-view/selection.ts'
import { useAddress } from './use-address.ts'

const NAMES = {
  t: parseAsString,
  group: parseAsString,
  at: parseAsString,
  tab: parseAsStringLiteral(INSPECTOR_TABS).withDefault('tokens'),
  colour: parseAsString.withDefault('logprob'),
  limit: parseAsFloat,
  find: parseAsString.withDefault(''),
  scatter: parseAsString,
  format: parseAsString,
  opened: parseAsInteger,
  list: parseAsString,
}

const serialize = createSerializer(NAMES)

/** What the address says of the view: a copied link shows the same. */
export function useViewState() {
  const [{ t, group, at, tab, colour, limit, find, scatter, format, opened, list }, set] = useAddress(NAMES)
  const view: InspectorView = {
    tab,
    colour,
    limit: limit ?? undefined,
    selection: at === null ? undefined : readSelection(at),
    find,
    scatter: scatter ?? undefined,
    format: format ?? undefined,
  }
  return {
    key: t ?? undefined,
    view,
    /** How many trajectories the file had that was just opened here; undefined when it was this one alone. */
    opened: opened !== null && opened > 1 ? opened : undefined,
    /** Query of the list that the trajectory was opened from; undefined: none is named. */
    list: list ?? undefined,
    /** The group of samples that the one shown belongs to. */
    group: group ?? undefined,
    setKey: (key: string | undefined) => set({ t: key ?? null, group: null, at: null }, { history: 'push' }),
    /** `history`: push where it is another page to the reader, replace between samples of one group. */
    setSample: (sample: { readonly key: string; readonly group: string }, history: 'push' | 'replace') =>
      set({ t: sample.key, group: sample.group, ...(sample.key !== t && { at: null }) }, { history }),
    setView: (change: Partial<InspectorView>) => set(namesOf(change)),
    setSelection: (selection: Selection | undefined) => set(namesOf({ selection })),
    forgetOpened: () => set({ opened: null }),
    /** This page's address under another path, with all that it holds, also what the browser does not show yet. */
    addressAt: (path: string) => serialize(path, { t, opened, ...namesOf(view) }),
    /** The address of another trajectory of the same list, looked at in the same way. */
    besideAt: (path: string) => serialize(path, { list, ...namesOf({ ...view, selection: undefined }) }),
    /** An address that restores exactly this view, or one that differs, wherever the page's own may have got to. */
    link: (change: Partial<InspectorView> = {}) =>
      new URL(
        serialize(window.location.pathname, { t, group, ...namesOf({ ...view, ...change }) }),
        window.location.href,
      ).href,
  }
}

/** The names of what changes; undefined leaves the address. */
function namesOf(change: Partial<InspectorView>) {
  const { selection, ...others } = change
  const names = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, value ?? null]))
  return 'selection' in change ? { ...names, at: selection ? selectionText(selection) : null } : names
}
