# The viewer's page lies in one place, src/wavewright/_web, from where wheels, source distributions and editable
# installations take it. It holds the digest of what it was made of (sources.ts); where that is not the digest of the
# sources that lie here, Vite builds the page now. No page, or that of other sources: nothing is installed
# (docs/adr/0031-no-wheel-without-its-page.md).
set(page_source "${CMAKE_CURRENT_LIST_DIR}")
set(page_folder "${CMAKE_CURRENT_SOURCE_DIR}/src/wavewright/_web")

# The same text as in sources.ts.
function(page_sources_digest result)
  file(GLOB files RELATIVE "${page_source}" "${page_source}/*.html" "${page_source}/*.json" "${page_source}/*.ts")
  file(GLOB_RECURSE more RELATIVE "${page_source}" "${page_source}/licences/*" "${page_source}/src/*")
  list(APPEND files ${more})
  list(SORT files)
  file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/pyproject.toml" text REGEX "^version = ")
  foreach(file IN LISTS files)
    file(SHA256 "${page_source}/${file}" digest)
    string(APPEND text "\n${digest}  ${file}")
  endforeach()
  string(SHA256 digest "${text}")
  set(${result} "${digest}" PARENT_SCOPE)
endfunction()

function(page_is_of digest result)
  set(${result} FALSE PARENT_SCOPE)
  if(EXISTS "${page_folder}/index.html" AND EXISTS "${page_folder}/page.sources.txt")
    file(STRINGS "${page_folder}/page.sources.txt" made_of)
    if(made_of STREQUAL digest)
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

page_sources_digest(page_digest)
page_is_of("${page_digest}" page_is_current)
if(page_is_current)
  return()
endif()

# Those in the PATH, where npm itself looks for node; pip's Node.js lies elsewhere in every build.
set(page_search NO_CACHE NO_CMAKE_PATH NO_CMAKE_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH)
find_program(PAGE_NODE node ${page_search})
find_program(PAGE_NPM npm ${page_search})
set(page_node_version "0")
if(PAGE_NODE)
  execute_process(COMMAND "${PAGE_NODE}" --version OUTPUT_VARIABLE page_node_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" page_node_version "${page_node_version}")
endif()
if(NOT PAGE_NPM OR page_node_version VERSION_LESS 20.19)
  message(FATAL_ERROR "The viewer's page is not built for these sources, and there is no Node.js 20.19 or newer with npm to build it: "
    "install one, or let pip fetch it (pip install . without --no-build-isolation), or install a wheel.")
endif()
message(STATUS "Building the viewer's page with Node.js ${page_node_version}")
if("${page_source}/package-lock.json" IS_NEWER_THAN "${page_source}/node_modules/.package-lock.json")
  execute_process(COMMAND "${PAGE_NPM}" ci --ignore-scripts --loglevel=error --no-fund --no-audit
    WORKING_DIRECTORY "${page_source}" RESULT_VARIABLE page_failed OUTPUT_QUIET)
  if(page_failed)
    message(FATAL_ERROR "The viewer's page could not be built: npm could not fetch the packages that it is built with, and says why above. "
      "Try again where npm reaches its registry, or install a wheel.")
  endif()
endif()
execute_process(COMMAND "${PAGE_NPM}" run build --silent -- --logLevel error
  WORKING_DIRECTORY "${page_source}" RESULT_VARIABLE page_failed)
page_is_of("${page_digest}" page_is_current)
if(page_failed OR NOT page_is_current)
  message(FATAL_ERROR "The viewer's page could not be built: Vite failed, and says why above. "
    "Remove web/node_modules and try again, or install a wheel.")
endif()
