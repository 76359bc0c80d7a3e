package io.understudy.local.binary;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An etcd version to search for: one patch, or any patch of a minor.
 *
 * @param minor of major version 3
 * @param patch null for any
 * @param byDefault not selected: another version is accepted where it is installed
 */
record WantedVersion(int minor, @Nullable Integer patch, boolean byDefault) {

    static final String PROPERTY = "understudy.etcd.version";
    static final String VARIABLE = "UNDERSTUDY_ETCD_VERSION";

    /** The newest tested patches; a minor alone means its patch here where that is available. */
    static final Map<Integer, Integer> NEWEST = Map.of(5, 33, 6, 16, 7, 3);

    /** One minor only: a later search must not start another on the same data. */
    private static final WantedVersion DEFAULT = new WantedVersion(5, null, true);

    private static final Pattern FORM = Pattern.compile("v?3\\.(\\d{1,3})(?:\\.(\\d{1,4}))?");

    /** Versions of the system property or, without it, of the environment variable. */
    static List<WantedVersion> configured() {
        return parse(System.getProperty(PROPERTY, System.getenv(VARIABLE)));
    }

    /**
     * Reads a list such as {@code 3.7,3.5}, the preferred version first. The default: {@code any}, or nothing.
     *
     * @throws IllegalArgumentException an entry is neither a minor nor a patch of etcd 3
     */
    static List<WantedVersion> parse(@Nullable String text) {
        if (text == null || text.isBlank() || text.equals("any")) {
            return List.of(DEFAULT);
        }
        List<WantedVersion> wanted = new ArrayList<>();
        for (String entry : text.split(",", -1)) {
            Matcher form = FORM.matcher(entry.strip());
            if (!form.matches()) {
                throw new IllegalArgumentException(
                        "-D" + PROPERTY + " must be a list of versions such as 3.7 or 3.6.16, is '" + text + "'");
            }
            int minor = Integer.parseInt(form.group(1));
            if (form.group(2) != null) {
                wanted.add(new WantedVersion(minor, Integer.valueOf(form.group(2)), false));
                continue;
            }
            Optional.ofNullable(NEWEST.get(minor))
                    .ifPresent(patch -> wanted.add(new WantedVersion(minor, patch, false)));
            wanted.add(new WantedVersion(minor, null, false));
        }
        return wanted;
    }

    boolean accepts(ProgramVersion version) {
        return version.major() == 3 && version.minor() == minor && (patch == null || patch == version.patch());
    }

    @Override
    public String toString() {
        return "3." + minor + (patch == null ? "" : "." + patch);
    }
}
