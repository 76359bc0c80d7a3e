package io.understudy.bench;

/** What can be measured. */
public interface Figure {

    /** How it is shown. */
    Form form();

    /** For people, with its unit. */
    default String title() {
        return form().title();
    }

    /** For programs. */
    default String jsonName() {
        return form().jsonName();
    }

    /** A value of it as people read it. */
    default String format(double value) {
        return ReportText.format(form().pattern(), value);
    }

    /**
     * How a figure is shown.
     *
     * @param title for people, with its unit
     * @param jsonName for programs
     * @param pattern of a value of it, as {@link java.util.Formatter} takes it
     */
    record Form(String title, String jsonName, String pattern) {}
}
