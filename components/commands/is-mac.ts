/** Returns whether the platform uses ⌘ instead of Ctrl. */
export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform)
