# PowerShell completion for foley. Written by `npm run generate`; changes here are lost.
#
# Nothing that a service said is ever evaluated: names are compared as text, and quoted.

$script:FoleyPlaces = @{
#{places}
}

$script:FoleyFlagsWithValue = @(
#{flags with value}
)

Register-ArgumentCompleter -Native -CommandName foley -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $path = ''
    $before = ''
    $skip = $false
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $cursorPosition -and $wordToComplete -ne '') { break }
        $word = $element.ToString()
        $before = $word
        if ($skip) { $skip = $false; continue }
        if ($script:FoleyFlagsWithValue -ccontains $word) { $skip = $true; continue }
        if ($word.StartsWith('-')) { continue }
        $candidate = ("$path $word").Trim()
        if ($script:FoleyPlaces.ContainsKey($candidate)) { $path = $candidate }
    }

    $place = $script:FoleyPlaces[$path]
    $source = if ($skip) { $place.Values[$before] } else { $place.Argument }
    $offered = @()
    if (-not $skip) {
        $offered += if ($wordToComplete.StartsWith('-')) { $place.Flags } else { $place.Commands }
    }
    if ($source -and $source.Words) {
        $offered += $source.Words | ForEach-Object { , @($_, $_) }
    }
    if ($source -and $source.Known) {
        # foley asks no service for them.
        $offered += foley completion names $source.Known 2>$null | ForEach-Object {
            $name, $about = $_ -split "`t", 2
            , @($name, $(if ($about) { $about } else { $name }))
        }
    }
    $offered |
        Where-Object { $_ -and $_[0].StartsWith($wordToComplete, [System.StringComparison]::Ordinal) } |
        ForEach-Object {
            $text = $_[0]
            if ($text -notmatch '^[\w.,:@/+-]+$') { $text = "'" + $text.Replace("'", "''") + "'" }
            [System.Management.Automation.CompletionResult]::new($text, $_[0], 'ParameterValue', $_[1])
        }
}
