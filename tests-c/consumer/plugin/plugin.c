int plugin_answer(void);
int plugin_answer(void) {
    return 3;
}
