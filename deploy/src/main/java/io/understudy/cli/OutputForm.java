package io.understudy.cli;

/** In which form results are printed. */
enum OutputForm {
    TABLE,
    JSON
}
