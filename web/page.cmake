# The viewer's page, when the source tree does not hold it already: built by Vite in the build folder and installed with
# the package. Without Node.js, or where npm cannot fetch its packages, all but `wavewright open` is installed.
set(page_source "${CMAKE_CURRENT_LIST_DIR}")
set(page_folder "${CMAKE_CURRENT_BINARY_DIR}/page")
set(page_problem "")

if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/src/wavewright/_web/index.html")
  return()
endif()

find_program(NODE node)
find_program(NPM npm)
if(NODE)
  execute_process(COMMAND "${NODE}" --version OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" node_version "${node_version}")
endif()
if(NOT NODE OR NOT NPM)
  set(page_problem "there is no Node.js with npm")
elseif(node_version VERSION_LESS 20.19)
  set(page_problem "Node.js ${node_version} is older than 20.19")
else()
  # A copy, so that nothing is written into the source tree.
  set(page_build "${CMAKE_CURRENT_BINARY_DIR}/web")
  file(REMOVE_RECURSE "${page_folder}")
  file(COPY "${page_source}/" DESTINATION "${page_build}" PATTERN node_modules EXCLUDE)
  message(STATUS "Building the viewer's page with Node.js ${node_version}")
  execute_process(COMMAND "${NPM}" ci --ignore-scripts --loglevel=error --no-fund --no-audit
    WORKING_DIRECTORY "${page_build}" RESULT_VARIABLE failed OUTPUT_QUIET)
  if(NOT failed)
    execute_process(COMMAND "${NPM}" run build --silent -- --logLevel error --outDir "${page_folder}" --emptyOutDir
      WORKING_DIRECTORY "${page_build}" RESULT_VARIABLE failed OUTPUT_QUIET)
  endif()
  if(failed)
    set(page_problem "npm failed, see above")
  endif()
endif()

if(page_problem)
  message(WARNING "`wavewright open` will have no page: ${page_problem}. Everything else is installed.")
else()
  install(DIRECTORY "${page_folder}/" DESTINATION wavewright/_web)
endif()
