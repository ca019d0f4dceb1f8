/** What Pyodide gets of modules that it names and does not need here: node:vm, ws. */
export default {}
