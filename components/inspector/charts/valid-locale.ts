/**
 * Gives the browser a valid language. WebKitGTK has the language `C` where the system has no other, and uPlot throws when it is loaded
 * with it.
 */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en', configurable: true })
}

export {}
